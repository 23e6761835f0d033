// Does what parse does, as one would write it with cheerio: pages as NDJSON in,
// their title, meta, text and links out.
const cheerio = require("cheerio");
const readline = require("node:readline");

const words = (text) => text.trim().split(/\s+/).join(" ");

function parse(page) {
  const $ = cheerio.load(page.body ?? "");
  delete page.body;
  $("script, style, template").remove();
  page.title = words($("title").first().text());
  page.description = $("meta[name=description]").attr("content") ?? "";
  page.keywords = $("meta[name=keywords]").attr("content") ?? "";
  page.text = words($("body").text());
  page.links = [];
  for (const a of $("a[href]")) {
    const href = $(a).attr("href");
    if (URL.canParse(href, page.url)) {
      page.links.push({ url: new URL(href, page.url).href, anchor: words($(a).text()) });
    }
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const page = JSON.parse(line);
    parse(page);
    process.stdout.write(JSON.stringify(page) + "\n");
  }
}

main();
