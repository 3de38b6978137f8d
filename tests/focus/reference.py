"""Focus on one page, written from its description alone; it shares no code with the product.

Prompts are lists of words that no stemmer changes. Trees are dictionaries of nodes by number.
"""

from __future__ import annotations

from math import exp, log2, sqrt

DEFAULTS = {
    "memory_size": 100, "decay_rate": 0.05, "extend": 0.55, "branch": 0.25, "bubble_up_terms": 6,
    "max_sources": 20, "guide_size": 15, "transition_boost": 0.2,
}  # fmt: skip


class Reference:
    def __init__(self, **settings):
        self.set = {**DEFAULTS, **settings}
        self.nodes = {}  # id -> dict(parent, kind, words, frequency, touched)
        self.steps = []  # (from tree, to tree), one for each prompt after the first
        self.last = None
        self.next = 1
        self.guide = []  # [words, time, is new]

    def documents(self):
        return [set(n["words"]) for n in self.nodes.values() if n["kind"] == "prompt"]

    def vector(self, words):
        docs = self.documents()
        weights = {}
        for word in set(words):
            tf = words.count(word) / len(words)
            df = max(1, sum(word in doc for doc in docs))
            weights[word] = tf * log2(1 + max(1, len(docs)) / df)
        return weights

    def cosine(self, a, b):
        va, vb = self.vector(a), self.vector(b)
        dot = sum(va[word] * vb[word] for word in va if word in vb)
        length = sqrt(sum(w * w for w in va.values())) * sqrt(sum(w * w for w in vb.values()))
        return round(dot / length, 12) if length else 0.0

    def root(self, number):
        while self.nodes[number]["parent"]:
            number = self.nodes[number]["parent"]
        return number

    def depth(self, number):
        parent = self.nodes[number]["parent"]
        return 1 + self.depth(parent) if parent else 0

    def children(self, number):
        return [n for n, node in self.nodes.items() if node["parent"] == number]

    def probability(self, tree):
        after = [later for earlier, later in self.steps if earlier == self.last]
        return after.count(tree) / len(after) if after else 0.0

    def scores(self, words):
        """[(tree, nearest node, cosine, boost, score)]."""
        found = []
        for tree in [n for n, node in self.nodes.items() if not node["parent"]]:
            nearest, best = tree, self.cosine(words, self.nodes[tree]["words"])
            for n, node in self.nodes.items():
                if node["kind"] == "prompt" and self.root(n) == tree:
                    here = self.cosine(words, node["words"])
                    if here > best:
                        nearest, best = n, here
            boost = 1 + self.set["transition_boost"] * self.probability(tree)
            found.append((tree, nearest, best, boost, round(best * boost, 12)))
        return found

    def node_score(self, number, now):
        node = self.nodes[number]
        age = max(0, now - node["touched"]) / 3600
        faded = exp(-self.set["decay_rate"] * age)
        return log2(node["frequency"] + 1) * faded / (1 + 0.15 * self.depth(number))

    def make(self, parent, kind, words, now):
        self.nodes[self.next] = {
            "parent": parent, "kind": kind, "words": words, "frequency": 1, "touched": now,
        }  # fmt: skip
        self.next += 1
        return self.next - 1

    def rename(self, number):
        latest = sorted(self.children(number), key=lambda n: (self.nodes[n]["touched"], n))
        most = self.set["max_sources"]
        total = {}
        for child in latest[-most:] if most else []:
            for word, weight in self.vector(self.nodes[child]["words"]).items():
                total[word] = total.get(word, 0) + weight
        order = sorted(total, key=lambda word: (-round(total[word], 12), word))
        self.nodes[number]["words"] = order[: self.set["bubble_up_terms"]]

    def up(self, number):
        while number:
            yield number
            number = self.nodes[number]["parent"]

    def answer(self, words, now):
        self.guide = [*self.guide, [words, now, True]][-self.set["guide_size"] :]

    def prompt(self, words, now):
        for entry in self.guide:
            roots = [n for n, node in self.nodes.items() if not node["parent"]]
            if entry[2] and roots:
                likes = [(self.cosine(entry[0], self.nodes[n]["words"]), -n) for n in roots]
                best, number = max((like, n) for like, n in likes)
                if best > 0:
                    self.nodes[-number]["frequency"] += 1
                    self.nodes[-number]["touched"] = max(entry[1], self.nodes[-number]["touched"])
            entry[2] = False
        scores = self.scores(words)
        best = max(scores, key=lambda s: (s[4], -s[0]), default=None)
        if best is not None and best[4] >= self.set["extend"]:
            action, parent = "extend", self.nodes[best[1]]["parent"] or best[1]
        elif best is not None and best[4] >= self.set["branch"]:
            action, parent = "branch", best[0]
        else:
            action, parent = "new", self.make(0, "root", [], now)
        if action != "new":
            for number in self.up(parent):
                self.nodes[number]["frequency"] += 1
                self.nodes[number]["touched"] = now
        if action == "branch":
            parent = self.make(parent, "topic", [], now)
        leaf = self.make(parent, "prompt", words, now)
        for number in self.up(parent):
            self.rename(number)
        tree = self.root(leaf)
        if self.last is not None:
            self.steps.append((self.last, tree))
        self.last = tree
        while len(self.nodes) > self.set["memory_size"] and not self.drop(leaf, now):
            pass
        return action, scores

    def drop(self, newest, now):
        """Drops the lowest leaf; returns whether there was one."""
        leaves = [n for n, node in self.nodes.items() if node["kind"] == "prompt" and n != newest]
        if not leaves:
            return True
        number = min(leaves, key=lambda n: (self.node_score(n, now), n))
        while number and not self.children(number):
            parent = self.nodes.pop(number)["parent"]
            self.steps = [step for step in self.steps if number not in step]
            self.last = None if self.last == number else self.last
            number = parent
        for left in list(self.up(number)):
            self.rename(left)
        return False
