"use strict";
// Lists the tasks and shows one of them. Everything from outside is written as text.
(() => {
  const { picture, details } = JSON.parse(document.getElementById("data").textContent);
  const tasks = picture.tasks;
  const detailOf = new Map(details.map((detail) => [detail.task, detail]));
  const ROW = 32, SPARE = 12;

  /** Makes an element: `make("td", { class: "x" }, "text", element)`. */
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  /** A text whose parts in backticks are what one could type. */
  const prose = (text) => {
    const parts = text.split("`");
    return parts.length % 2 === 0 ? [text] : parts.map((part, n) => (n % 2 === 1 ? make("code", {}, part) : part));
  };
  const two = (n) => String(n).padStart(2, "0");
  const clock = (text) => {
    const at = new Date(Date.parse(text) + picture.utc_offset * 1000);
    return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  };
  const dollars = (micro) => (micro === undefined || micro === null ? "" : `$${(micro / 1e6).toFixed(2)}`);
  const COLORS = { done: "landed", running: "run", needs_person: "you", interrupted: "kill", failed: "kill", limited: "wait" };
  const SIGNS = { done: "✓", running: "◐", needs_person: "◆", interrupted: "✗", failed: "▪", limited: "⧗", skipped: "–" };
  const sign = (state) => make("span", { "aria-hidden": "true" }, SIGNS[state] ?? "○");

  /** The attempts of a task in a few words. */
  const summary = (task) => {
    const n = task.attempts.length;
    if (n === 0) return "";
    const parts = [n === 1 ? "1 attempt" : `${n} attempts`];
    for (const end of ["killed", "failed", "limited"]) {
      const count = task.attempts.filter((attempt) => attempt.end === end).length;
      if (count > 0) parts.push(`${count} ${end}`);
    }
    const last = task.attempts[n - 1];
    if (last.landed) parts.push(`${picture.branch ? "landed" : "done"} ${clock(last.landed)}`);
    return parts.join(", ");
  };

  // The list: only the rows that can be seen are there.
  let shown = tasks.map((_, place) => place);
  let selected = -1;
  const find = make("input", { type: "search", id: "find", "aria-label": "Find a task", placeholder: "Find a task" });
  const open = make("input", { type: "checkbox", id: "open" });
  const count = make("span", { role: "status" });
  const body = make("tbody");
  const head = make("tr", {}, make("th", { scope: "col", class: "w-task" }, "Task"), make("th", { scope: "col", class: "w-state" }, "State"), make("th", { scope: "col", class: "more" }, "Attempts"));
  const table = make("table", { "aria-labelledby": "h-tasks" }, make("thead", {}, head), body);
  const rows = make("div", { class: "rows", role: "group", tabindex: "0", "aria-label": "List of tasks, scrolls" }, table);
  const detail = make("div", { class: "detail", role: "region", tabindex: "0", "aria-label": "The selected task" });
  const keys = make("span", { class: "keys" });
  for (const [key, word] of [["j", ""], ["k", "task"], ["/", "find"], ["o", "only open"], ["n", "next that needs you"]]) keys.append(make("kbd", {}, key), ` ${word} `);
  document.getElementById("tasks").append(
    make("div", { class: "bar2" }, find, make("label", {}, open, " only open"), count, keys),
    make("div", { class: "two" }, rows, detail),
  );

  const rowOf = (index) => {
    const place = shown[index], task = tasks[place];
    const button = make("button", { type: "button" }, make("code", {}, task.id), ` ${task.title}`);
    button.addEventListener("click", () => select(place));
    const row = make("tr", { "aria-rowindex": String(index + 2), "data-row": String(place) },
      make("th", { scope: "row" }, button),
      make("td", { class: `state ${COLORS[task.state] ?? "idle"}` }, sign(task.state), ` ${task.word}`),
      make("td", { class: "more" }, summary(task)));
    if (place === selected) {
      row.className = "on";
      button.setAttribute("aria-current", "true");
    }
    return row;
  };
  const spacer = (n) => {
    const cell = make("td", { colspan: "3" });
    cell.style.height = `${n * ROW}px`;
    return make("tr", { class: "gap", "aria-hidden": "true" }, cell);
  };
  const paint = () => {
    const first = Math.max(0, Math.floor(rows.scrollTop / ROW) - SPARE);
    const last = Math.min(shown.length, first + Math.ceil(640 / ROW) + 2 * SPARE);
    const held = document.activeElement?.closest?.("[data-row]")?.getAttribute("data-row");
    const drawn = [];
    if (first > 0) drawn.push(spacer(first));
    for (let index = first; index < last; index++) drawn.push(rowOf(index));
    if (last < shown.length) drawn.push(spacer(shown.length - last));
    body.replaceChildren(...drawn);
    if (held) body.querySelector(`[data-row="${held}"] button`)?.focus({ preventScroll: true });
  };
  let waits = false;
  rows.addEventListener("scroll", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; paint(); });
  });
  const filter = () => {
    const text = find.value.trim().toLowerCase();
    shown = [];
    tasks.forEach((task, place) => {
      const isOver = task.state === "done" || task.state === "skipped";
      const fits = !text || task.id.toLowerCase().includes(text) || task.title.toLowerCase().includes(text);
      if (fits && !(open.checked && isOver)) shown.push(place);
    });
    table.setAttribute("aria-rowcount", String(shown.length + 1));
    count.textContent = shown.length === tasks.length ? "" : `${shown.length} of ${tasks.length}`;
    rows.scrollTop = 0;
    paint();
  };
  find.addEventListener("input", filter);
  open.addEventListener("change", filter);

  // One task: what there is to say about it, in tabs.
  const attemptsOf = (task) => {
    const list = make("tbody");
    for (const one of task.attempts) {
      const words = [one.end];
      if (one.landed) words.push(`${picture.branch ? "landed" : "done"} ${clock(one.landed)}`);
      if (one.commit) words.push(one.commit.slice(0, 12));
      if (one.reason) words.push(one.reason);
      list.append(make("tr", {}, make("td", {}, `#${one.number}`), make("td", {}, `${clock(one.from)}–${one.to ? clock(one.to) : ""}`), make("td", {}, words.join(" · ")), make("td", {}, dollars(one.cost_microdollars))));
    }
    return [make("table", { "aria-label": "Attempts" }, list)];
  };
  const whyOf = (why) => {
    const list = make("tbody");
    for (const said of why.said) {
      list.append(make("tr", said.decided ? { class: "decided" } : {}, make("td", {}, said.at ? clock(said.at) : ""), make("td", {}, said.what), make("td", { class: "where" }, make("code", { title: said.where }, said.where.split("/").pop()))));
    }
    const older = why.left_out > 0 ? [make("p", { class: "meta" }, `${why.left_out} older ones are not listed`)] : [];
    const said = make("div", { class: "said", role: "region", tabindex: "0", "aria-label": "What each source says, scrolls" }, make("table", {}, list));
    return [make("p", { class: "rule" }, ...prose(why.rule)), said, ...older];
  };
  const CLASSES = [["diff --git", "file"], ["+++", "file"], ["---", "file"], ["@@", "hunk"], ["+", "add"], ["-", "del"]];
  const diffOf = (diff) => {
    const text = make("pre", { tabindex: "0", role: "region", "aria-label": "Diff" });
    for (const line of diff.text.split("\n")) {
      const found = CLASSES.find(([begin]) => line.startsWith(begin));
      text.append(found ? make("span", { class: found[1] }, `${line}\n`) : `${line}\n`);
    }
    if (diff.is_cut) text.append("… the rest is not in this report\n");
    return [make("p", { class: "meta" }, "commit ", make("code", {}, diff.commit.slice(0, 12))), text];
  };
  const outputOf = (output) => {
    const lines = output.left_out > 0 ? [`… ${output.left_out} earlier lines`, ...output.lines] : output.lines;
    return [make("p", { class: "meta" }, `attempt ${output.attempt}`), make("pre", { tabindex: "0", role: "region", "aria-label": "Output" }, lines.join("\n"))];
  };
  const savedOf = (saved) => {
    const list = make("tbody");
    for (const one of saved) list.append(make("tr", {}, make("td", {}, `#${one.number}`), make("td", {}, make("code", {}, `rekindle rescue show ${one.saved}`))));
    return [make("p", {}, "What these attempts had written is saved:"), make("table", { "aria-label": "Saved work" }, list)];
  };
  const findingsOf = (found) => {
    const list = make("ul");
    for (const one of found) list.append(make("li", {}, make("b", { class: one.severity }, one.code), ` ${one.message} `, ...(one.where ? [make("code", {}, one.where)] : [])));
    return [list];
  };
  let wanted = "Why";
  const tabsOf = (task, more) => {
    const saved = task.attempts.filter((one) => one.saved);
    const found = (task.findings ?? []).map((n) => picture.findings[n]).filter(Boolean);
    const tabs = [
      ["Why", "", more.why && (() => whyOf(more.why))],
      ["Attempts", task.attempts.length, task.attempts.length > 0 && (() => attemptsOf(task))],
      ["Output", "", more.output && (() => outputOf(more.output))],
      ["Diff", "", more.diff && (() => diffOf(more.diff))],
      ["Saved work", saved.length, saved.length > 0 && (() => savedOf(saved))],
      ["Findings", found.length, found.length > 0 && (() => findingsOf(found))],
    ].filter(([, , paint]) => paint);
    if (tabs.length === 0) return [];
    const panel = make("div", { role: "tabpanel", id: "panel", tabindex: "0" });
    const list = make("div", { role: "tablist", class: "tabs", "aria-label": `About ${task.id}` });
    const turn = (n) => {
      [...list.children].forEach((tab, at) => {
        tab.setAttribute("aria-selected", String(at === n));
        tab.setAttribute("tabindex", at === n ? "0" : "-1");
      });
      panel.setAttribute("aria-labelledby", `tab-${n}`);
      panel.replaceChildren(...tabs[n][2]());
      showDecided();
    };
    // What decided is often the newest, at the end of a long list.
    const showDecided = () => {
      const said = panel.querySelector(".said"), decided = panel.querySelector(".decided");
      if (decided) said.scrollTop = decided.offsetTop + decided.offsetHeight - said.clientHeight;
    };
    const choose = (n) => { wanted = tabs[n][0]; turn(n); list.children[n].focus(); };
    tabs.forEach(([name, n], at) => {
      const tab = make("button", { type: "button", role: "tab", id: `tab-${at}`, "aria-controls": "panel" }, name, ...(n ? [make("span", { class: "n" }, ` ${n}`)] : []));
      tab.addEventListener("click", () => choose(at));
      tab.addEventListener("keydown", (event) => {
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose((to + tabs.length) % tabs.length);
      });
      list.append(tab);
    });
    turn(Math.max(0, tabs.findIndex(([name]) => name === wanted)));
    return [list, panel, showDecided];
  };
  const show = (place) => {
    const task = tasks[place], more = detailOf.get(place) ?? {};
    const state = make("span", { class: `state ${COLORS[task.state] ?? "idle"}` }, sign(task.state), ` ${task.word}`);
    const parts = [make("p", { class: "name" }, make("code", {}, task.id), ` ${task.title} `, state, make("span", { class: "cost" }, dollars(task.cost_microdollars)))];
    if (task.reason) parts.push(make("p", {}, task.reason));
    if (task.needs.length > 0) parts.push(make("p", { class: "meta" }, `needs ${task.needs.map((need) => tasks[need]?.id ?? "?").join(", ")}`));
    const [list, panel, showDecided] = tabsOf(task, more);
    detail.replaceChildren(...parts, ...(list ? [list, panel] : []));
    detail.scrollTop = 0;
    showDecided?.();
  };
  const select = (place, focus = true) => {
    selected = place;
    const index = shown.indexOf(place);
    const top = index * ROW;
    if (index >= 0 && (top < rows.scrollTop || top > rows.scrollTop + rows.clientHeight - 2 * ROW)) rows.scrollTop = Math.max(0, top - 3 * ROW);
    paint();
    show(place);
    if (focus) body.querySelector(`[data-row="${place}"] button`)?.focus({ preventScroll: true });
  };

  document.addEventListener("click", (event) => {
    const drawn = event.target.closest?.("[data-task]");
    if (!drawn) return;
    select(Number(drawn.getAttribute("data-task")), false);
    document.getElementById("h-tasks").scrollIntoView();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input[type=search]")) return;
    const at = shown.indexOf(selected);
    const step = (by) => { if (shown.length > 0) select(shown[Math.min(shown.length - 1, Math.max(0, at + by))]); };
    const needing = () => {
      const order = [...shown.slice(at + 1), ...shown.slice(0, at + 1)];
      const next = order.find((place) => tasks[place].state === "needs_person");
      if (next !== undefined) select(next);
    };
    const deeds = {
      j: () => step(1), k: () => step(-1), n: needing,
      o: () => { open.checked = !open.checked; filter(); },
      "/": () => { find.focus(); find.scrollIntoView({ block: "nearest" }); },
    };
    if (!deeds[event.key]) return;
    event.preventDefault();
    deeds[event.key]();
  });

  const interesting = ["needs_person", "failed", "interrupted", "limited", "running"]
    .map((state) => tasks.findIndex((task) => task.state === state))
    .find((place) => place >= 0);
  const troubled = tasks.findIndex((task) => task.attempts.length > 1);
  filter();
  if (tasks.length > 0) select(interesting ?? Math.max(0, troubled), false);
})();
