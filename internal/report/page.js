"use strict";

// Light or dark, as the reader says: until then as the system says.
{
	const root = document.documentElement, button = document.getElementById("theme");
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const isDark = () => (root.dataset.theme ?? (dark.matches ? "dark" : "light")) == "dark";
	const show = () => { button.textContent = isDark() ? "Light" : "Dark" };
	try { // storage may be refused to a file
		const kept = localStorage.getItem("spoor-theme");
		if (kept == "light" || kept == "dark") root.dataset.theme = kept;
	} catch {}
	button.addEventListener("click", () => {
		root.dataset.theme = isDark() ? "light" : "dark";
		try { localStorage.setItem("spoor-theme", root.dataset.theme) } catch {}
		show();
	});
	dark.addEventListener("change", show);
	button.hidden = false;
	show();
}

// What a mark says of itself is shown at once, and not after a second. Whole
// pictures keep their names for screen readers only.
{
	for (const title of document.querySelectorAll("svg title")) {
		const mark = title.parentElement;
		if (mark.localName == "svg") mark.setAttribute("aria-label", title.textContent);
		else mark.dataset.tip = title.textContent;
		title.remove();
	}
	const tip = document.createElement("div");
	tip.className = "tip";
	tip.setAttribute("aria-hidden", "true");
	document.body.append(tip);
	const follow = event => {
		const words = event.target.closest?.("[data-tip]")?.dataset.tip;
		tip.classList.toggle("on", Boolean(words));
		if (!words) return;
		tip.textContent = words;
		const box = tip.getBoundingClientRect(), edge = document.documentElement.clientWidth;
		const x = Math.max(8, Math.min(event.clientX - box.width / 2, edge - box.width - 8));
		const y = event.clientY - box.height - 14;
		tip.style.transform = `translate(${x}px, ${y < 8 ? event.clientY + 20 : y}px)`;
	};
	document.addEventListener("pointermove", follow);
	document.addEventListener("pointerdown", follow);
	document.addEventListener("pointerleave", () => tip.classList.remove("on"));
	document.addEventListener("scroll", () => tip.classList.remove("on"), {passive: true});
}

// Tables sort by their headers: numbers begin with the greatest, words with the
// first. What has no value comes last either way.
for (const table of document.querySelectorAll("table.sortable")) {
	const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
	const words = new Intl.Collator(undefined, {numeric: true});
	for (const [column, head] of heads.entries()) {
		const kind = head.dataset.sort;
		if (!kind) continue;
		const button = document.createElement("button");
		button.type = "button";
		button.append(...head.childNodes);
		head.append(button);
		button.addEventListener("click", () => {
			const first = kind == "number" ? "descending" : "ascending";
			const second = first == "descending" ? "ascending" : "descending";
			const order = head.ariaSort == first ? second : first;
			for (const other of heads) other.ariaSort = null;
			head.ariaSort = order;
			const sign = order == "ascending" ? 1 : -1;
			const value = row => {
				const cell = row.cells[column], text = (cell.dataset.v ?? cell.textContent).trim();
				if (kind == "text") return text;
				const n = parseFloat(text.replaceAll(",", "").replace("−", "-"));
				return Number.isNaN(n) ? null : n;
			};
			const rows = [...body.rows].map(row => ({row, v: value(row)}));
			rows.sort((a, b) => {
				if (a.v === null || b.v === null) return (a.v === null) - (b.v === null);
				return sign * (kind == "text" ? words.compare(a.v, b.v) : a.v - b.v);
			});
			body.append(...rows.map(r => r.row));
			table.dispatchEvent(new Event("sorted"));
		});
	}
}

// Long tables show their beginning, in whatever order, until all is asked for.
for (const table of document.querySelectorAll("table[data-short]")) {
	const body = table.tBodies[0], short = Number(table.dataset.short);
	if (body.rows.length < short * 1.5) continue;
	const button = document.createElement("button");
	button.type = "button";
	button.className = "all";
	const fold = folded => {
		[...body.rows].forEach((row, i) => { row.hidden = folded && i >= short });
		button.textContent = folded ? `Show all ${body.rows.length}` : `Show the first ${short}`;
		button.setAttribute("aria-expanded", String(!folded));
	};
	fold(true);
	button.addEventListener("click", () => fold(button.getAttribute("aria-expanded") == "true"));
	table.addEventListener("sorted", () => fold(button.getAttribute("aria-expanded") == "false"));
	table.after(button);
}
