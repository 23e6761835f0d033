#!/usr/bin/python3
"""score by scikit-learn: a stage of spoor. Arguments: a file of relevant and a file of other pages, as
parse writes them. Debian's package is python3-sklearn."""
import json, sys

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline


def words(record):
    return record.get("title", "") + "\n" + record.get("text", "")


def examples(name):
    with open(name) as f:
        return [words(json.loads(line)) for line in f]


good, bad = examples(sys.argv[1]), examples(sys.argv[2])
model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, random_state=0))
model.fit(good + bad, [1] * len(good) + [0] * len(bad))

for line in sys.stdin:
    try:
        record = json.loads(line)
    except ValueError as e:
        print("score_sklearn: skipped a line:", e, file=sys.stderr)
        continue
    if record.get("url") and not record.get("error") and record.get("status_code", 200) // 100 == 2:
        record["score"] = float(model.predict_proba([words(record)])[0, 1])
        record["relevant"] = record["score"] >= 0.5
        texts = [link.get("anchor", "") + "\n" + link.get("context", "") for link in record.get("links") or []]
        if texts:
            for link, score in zip(record["links"], model.predict_proba(texts)[:, 1]):
                link["score"] = float(score)
    print(json.dumps(record), flush=True)
