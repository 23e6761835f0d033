#!/usr/bin/env python3
"""evolve: a strategy of spoor that prefers directories whose pages were relevant.

What it has learned after generation G is in $SPOOR_RUN/own-G.json. A generation that is repeated
begins again with that of G-1, and so gives the same output. Links are proposed once.
"""
import json, os, sys

here, generation = os.environ.get("SPOOR_RUN", "."), int(os.environ.get("SPOOR_GENERATION", "1"))


def directory(url):
    return url.rsplit("/", 1)[0]


try:
    with open(os.path.join(here, "own-%d.json" % (generation - 1))) as f:
        state = json.load(f)
except FileNotFoundError:
    state = {"directories": {}, "proposed": []}
seen, links = set(state["proposed"]), []

for line in sys.stdin:
    try:
        page = json.loads(line)
    except ValueError as e:
        print("evolve_directories: skipped a line:", e, file=sys.stderr)
        continue
    for link in page.pop("links", None) or []:
        if link.get("url") and link.get("archived") is not False:
            links.append((link["url"], page))
    page.pop("text", None)
    print(json.dumps(page))
    if page.get("url"):
        seen.add(page["url"])
        n = state["directories"].setdefault(directory(page["url"]), [0, 0])
        n[0] += 1
        n[1] += bool(page.get("relevant"))

for url, page in links:
    if url not in seen:
        seen.add(url)
        pages, relevant = state["directories"].get(directory(url), [0, 0])
        print(json.dumps({"v": 1, "url": url, "via": page["url"], "depth": page.get("depth", 0) + 1, "operator": "directory",
                          "priority": (relevant + page.get("score", 0)) / (pages + 1)}))

state["proposed"] = sorted(seen)
name = os.path.join(here, "own-%d.json" % generation)
with open(name + ".part", "w") as f:
    json.dump(state, f)
os.replace(name + ".part", name)
