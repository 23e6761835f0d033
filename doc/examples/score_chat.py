#!/usr/bin/env python3
"""score by a chat endpoint that is compatible with OpenAI's: a stage of spoor. Environment: CHAT_URL
(…/v1/chat/completions), CHAT_MODEL, CHAT_KEY, TOPIC (words) or CHAT_QUESTION (“Rate the quality of each page of
this JSON list”), CHAT_TOKENS (that may be spent, default 1000000), CHAT_CACHE (a file). Up to 8 pages are one
request. If the endpoint fails for good or the tokens are spent, the stage fails; a resumed crawl uses the cache."""
import dbm, hashlib, json, os, re, sys, time, urllib.error, urllib.request

cache = dbm.open(os.environ.get("CHAT_CACHE", "chat.db"), "c")
QUESTION = os.environ.get("CHAT_QUESTION") or "Rate how relevant each page of this JSON list is to “%s”" % os.environ["TOPIC"]
QUESTION += ", from 0 to 1. Answer with a JSON list of numbers."


def ask(pages):
    messages = [{"role": "system", "content": QUESTION}, {"role": "user", "content": json.dumps(pages)}]
    body = {"model": os.environ["CHAT_MODEL"], "temperature": 0, "messages": messages}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("CHAT_KEY", "")}
    for wait in (1, 4, 16, 64, 0):
        if (spent := int(cache.get(b"spent", b"0"))) >= int(os.environ.get("CHAT_TOKENS", "1000000")):
            sys.exit("score_chat: %d tokens are spent; raise CHAT_TOKENS and resume" % spent)
        try:
            request = urllib.request.Request(os.environ["CHAT_URL"], json.dumps(body).encode(), headers)
            answer = json.load(urllib.request.urlopen(request, timeout=120))
            cache[b"spent"] = str(spent + answer.get("usage", {}).get("total_tokens", 0))
            scores = json.loads(re.search(r"\[.*\]", answer["choices"][0]["message"]["content"], re.S)[0])
            if len(scores) == len(pages):
                return [min(1.0, max(0.0, float(s))) for s in scores]
            problem = "%d numbers for %d pages" % (len(scores), len(pages))
        except (OSError, ValueError, TypeError, KeyError) as e:
            problem = repr(e)
            if isinstance(e, urllib.error.HTTPError) and e.code not in (408, 429) and e.code < 500: break
        time.sleep(wait * float(os.environ.get("CHAT_PATIENCE", "1")))
    sys.exit("score_chat: %s: %s" % (os.environ["CHAT_URL"], problem))


def flush(records):
    keys, pages = {}, {}
    for i, r in enumerate(records):
        if r.get("text") and not r.get("error") and r.get("status_code", 200) // 100 == 2:
            page = {"title": r.get("title", ""), "text": r["text"][:4000]}
            keys[i] = hashlib.sha256((QUESTION + json.dumps(page)).encode()).digest()
            if keys[i] not in cache:
                pages[keys[i]] = page
    for key, score in zip(pages, ask(list(pages.values())) if pages else []):
        cache[key] = str(score)
    for i, r in enumerate(records):
        if i in keys:
            r["score"] = float(cache[keys[i]])
            r["relevant"] = r["score"] >= 0.5
        print(json.dumps(r))
    sys.stdout.flush()
    records.clear()


waiting = []
for line in sys.stdin:
    try:
        waiting.append(json.loads(line))
    except ValueError as e:
        print("score_chat: skipped a line:", e, file=sys.stderr)
    if waiting and (len(waiting) == 8 or not waiting[-1].get("url")):  # a mark: the next pages come when it is back
        flush(waiting)
flush(waiting)
