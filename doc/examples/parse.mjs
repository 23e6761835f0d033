#!/usr/bin/env node
// parse in JavaScript: a stage of spoor. It finds titles, text and links by regular expressions, to stay
// short; for real pages call a parser such as parse5 in words() and links().
import { createInterface } from "node:readline";

const entities = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " " };
const decode = (s) => s.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (all, name) => {
  if (name[0] !== "#") return entities[name.toLowerCase()] ?? all;
  const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
});
const words = (html) => decode(html.replace(/<(script|style|title)\b[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ").trim();

function links(html, base) {
  const found = [];
  for (const [, href, inner] of html.matchAll(/<a\b[^>]*?\bhref\s*=\s*["']([^"']*)["'][^>]*>([\s\S]*?)<\/a>/gi)) {
    try {
      const url = new URL(decode(href), base);
      url.hash = "";
      if (/^https?:$/.test(url.protocol)) found.push({ url: url.href, anchor: words(inner) });
    } catch {} // no address
  }
  return found;
}

function parse(record) {
  const html = record.body ?? Buffer.from(record.body_base64 ?? "", "base64").toString("utf8");
  delete record.body;
  delete record.body_base64;
  if (!html || record.error || !/html/.test(record.content_type ?? "html")) return;
  const base = record.final_url ?? record.url;
  record.title = words(/<title\b[^>]*>([\s\S]*?)<\/title>/i.exec(html)?.[1] ?? "");
  record.text = words(html);
  record.links = links(html, base);
  record.out_degree = new Set(record.links.map((l) => l.url)).size;
}

process.stdout.on("error", () => process.exit(0)); // nobody reads it any more
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let record;
  try {
    record = JSON.parse(line);
  } catch (e) {
    process.stderr.write(`parse.mjs: skipped a line: ${e.message}\n`);
    continue;
  }
  if (record.url) parse(record);
  if (!process.stdout.write(JSON.stringify(record) + "\n")) await new Promise((go) => process.stdout.once("drain", go));
}
