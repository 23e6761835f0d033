"use strict";

// Events of the server change the numbers of the page. When their version differs from that of the part below
// the numbers, that part is loaded again.
const main = document.querySelector("main[data-events]");
if (main) {
	const live = document.getElementById("live"), spoken = main.querySelector("[role=status]"), connection = document.getElementById("connection");
	const pause = 2000; // milliseconds between two loads, at least
	const quiet = 15000; // between two sentences for screen readers, unless the state changes
	let stream = null, wanted = live.dataset.version, loading = false, said = {at: 0, state: null};

	// key identifies an element that can have the focus, before and after a load.
	const key = e => [e.form?.elements.url?.value, e.id || e.getAttribute("name") || e.getAttribute("href") || e.getAttribute("aria-labelledby") || e.form?.getAttribute("action"), e.type == "submit" && e.value].join(" ");

	// replace replaces the sections that differ. What the reader has typed, and the focus, are kept.
	const replace = html => {
		const parsed = new DOMParser().parseFromString(html, "text/html").body;
		const focused = live.contains(document.activeElement) ? key(document.activeElement) : null;
		const typed = new Map([...live.querySelectorAll("input")].filter(i => i.value != i.defaultValue).map(i => [i.name, i.value]));
		const before = new Map([...live.children].map(e => [e.id, e]));
		live.replaceChildren(...[...parsed.children].map(e => {
			const old = before.get(e.id);
			return old && old.outerHTML == e.outerHTML ? old : e;
		}));
		for (const input of live.querySelectorAll("input")) if (typed.has(input.name)) input.value = typed.get(input.name);
		if (focused && !live.contains(document.activeElement)) {
			[...live.querySelectorAll("a, button, input, [tabindex]")].find(e => key(e) == focused)?.focus({preventScroll: true});
		}
	};

	const load = async () => {
		if (loading || wanted == live.dataset.version) return;
		loading = true;
		try {
			const answer = await fetch(live.dataset.fragment, {cache: "no-cache"});
			if (answer.ok) {
				replace(await answer.text());
				live.dataset.version = answer.headers.get("ETag").replaceAll('"', "");
			} else if (answer.status == 401 || answer.status == 404) location.reload();
		} catch {} // the server has ended; the stream says so
		setTimeout(() => { loading = false; load() }, pause);
	};

	const show = numbers => {
		for (const [name, value] of Object.entries(numbers)) {
			for (const e of main.querySelectorAll(`[data-number="${CSS.escape(name)}"]`)) {
				if (e.textContent == value) continue;
				e.textContent = value;
				if (name == "state") e.className = `state ${value}`;
			}
		}
		for (const e of main.querySelectorAll("[data-shown]")) e.hidden = !numbers[e.dataset.shown];
		const now = Date.now(), state = `${numbers.state} ${numbers.doing}`;
		if (said.at == 0) said = {at: now, state}; // the page has just been read
		else if (state != said.state || now - said.at >= quiet) {
			if (spoken.textContent != numbers.status) spoken.textContent = numbers.status;
			said = {at: now, state};
		}
	};

	// Nothing is received while nobody looks.
	const connect = () => {
		if (stream || document.hidden) return;
		stream = new EventSource(main.dataset.events);
		stream.addEventListener("open", () => { connection.textContent = "live" });
		stream.addEventListener("message", event => {
			const {version, numbers} = JSON.parse(event.data);
			wanted = version;
			show(numbers);
			load();
		});
		stream.addEventListener("error", () => {
			connection.textContent = "not connected";
			if (stream?.readyState != EventSource.CLOSED) return; // the browser tries again
			stream = null;
			setTimeout(connect, 10000);
		});
	};
	const disconnect = () => {
		stream?.close();
		stream = null;
	};
	document.addEventListener("visibilitychange", () => document.hidden ? disconnect() : connect());
	addEventListener("pagehide", disconnect);
	addEventListener("pageshow", connect);
}

// Command lines can be copied. The clipboard exists only at https and loopback addresses.
if (navigator.clipboard) {
	document.documentElement.classList.add("copies");
	document.addEventListener("click", async event => {
		const button = event.target.closest(".copy"), code = button?.parentElement.querySelector("code");
		if (!code) return;
		try {
			await navigator.clipboard.writeText(code.textContent);
			button.firstChild.data = "Copied";
			setTimeout(() => { button.firstChild.data = "Copy" }, 2000);
		} catch { getSelection().selectAllChildren(code) } // the browser does not permit it
	});
}
