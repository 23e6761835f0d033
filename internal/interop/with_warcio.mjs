// Prints a JSON line for each record of archives: what npm's warcio computes of it.
import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { createHash } from "node:crypto";

const { WARCParser, WARCSerializer } = createRequire(process.env.SPOOR_WARCIO + "/")("warcio");

for (const file of process.argv.slice(2)) {
  const contents = [];
  for await (const record of new WARCParser(createReadStream(file)))
    contents.push(createHash("sha1").update(await record.readFully(true)).digest("hex"));
  for await (const record of new WARCParser(createReadStream(file), { keepHeadersCase: true })) {
    const stored = { block: record.warcBlockDigest ?? "", payload: record.warcPayloadDigest ?? "" };
    const { warcType: type, warcTargetURI: url } = record;
    const serializer = new WARCSerializer(record, { digest: { algo: "sha-1", prefix: "sha1:", base32: true } });
    await serializer.digestRecord({ recompute: true });
    const computed = { block: record.warcBlockDigest ?? "", payload: record.warcPayloadDigest ?? "" };
    console.log(JSON.stringify({ type, url, stored, computed, content: contents.shift() }));
  }
}
