# Does what parse does, as one would write it with json and lxml: pages as NDJSON
# in, their title, meta, text and links out.
import json
import sys
from urllib.parse import urljoin

from lxml import etree, html


def words(text):
    return " ".join(text.split())


def parse(page):
    body = page.pop("body", "").encode()
    try:
        tree = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    except etree.ParserError:  # there is nothing in it
        return
    etree.strip_elements(tree, "script", "style", "template", etree.Comment, with_tail=False)
    page["title"] = words(tree.findtext(".//title") or "")
    for name in "description", "keywords":
        page[name] = (tree.xpath(f"//meta[@name='{name}']/@content") or [""])[0]
    page["text"] = words(" ".join(e.text_content() for e in tree.findall("body")))
    page["links"] = []
    for a in tree.iterfind(".//a[@href]"):
        try:
            to = urljoin(page["url"], a.get("href").strip())
        except ValueError:
            continue
        page["links"].append({"url": to, "anchor": words(a.text_content())})


for line in sys.stdin.buffer:
    page = json.loads(line)
    parse(page)
    json.dump(page, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")
