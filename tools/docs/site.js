// Light and dark, the menu of narrow screens, and search.
'use strict';

const root = document.documentElement;

function applyTheme() {
  const chosen = localStorage.getItem('theme');
  const dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.classList.toggle('dark', dark);
}
applyTheme();  // before the page is drawn
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);

// How well an entry answers a query: less is better, undefined is not at all.
function rank(name, asked) {
  const text = name.toLowerCase();
  const query = asked.toLowerCase();
  const at = text.indexOf(query);
  if (at < 0) return undefined;
  if (name.split('::').pop() === asked) return 0;
  const last = text.split('::').pop();
  if (last === query) return 1;
  if (last.startsWith(query)) return 2;
  return /[^a-z0-9]/.test(text[at - 1] || ' ') ? 3 : 4;
}

function find(words) {
  const query = words.trim().replace(/^rouse::/, '').replace(/\(\)$/, '');
  if (!query) return [];
  return window.searchIndex
      .map(([name, where, kind]) => ({name, where, kind, rank: rank(name, query)}))
      .filter((entry) => entry.rank !== undefined)
      .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
      .slice(0, 20);
}

function loadIndex(then) {
  if (window.searchIndex) return then();
  const script = document.createElement('script');
  script.src = 'search-index.js';
  script.onload = then;
  document.head.append(script);
}

function setUpSearch() {
  const field = document.getElementById('search');
  const results = document.getElementById('results');
  let chosen = 0;

  function choose(index) {
    const links = results.children;
    if (!links.length) return;
    chosen = (index + links.length) % links.length;
    for (let i = 0; i < links.length; ++i) links[i].classList.toggle('chosen', i === chosen);
    links[chosen].scrollIntoView({block: 'nearest'});
  }
  function show() {
    const entries = find(field.value);
    results.replaceChildren(...entries.map(({name, where, kind}) => {
      const link = document.createElement('a');
      const about = document.createElement('small');
      link.href = where;
      link.textContent = name;
      about.textContent = kind;
      link.append(about);
      return link;
    }));
    if (field.value.trim() && !entries.length) results.textContent = 'Nothing found.';
    results.hidden = !field.value.trim();
    choose(0);
  }

  field.addEventListener('input', () => loadIndex(show));
  field.addEventListener('focus', () => field.value && loadIndex(show));
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else if (event.key === 'ArrowUp') choose(chosen - 1);
    else if (event.key === 'Enter') results.children[chosen]?.click();
    else if (event.key === 'Escape') field.blur(), results.hidden = true;
    else return;
    event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.search') || event.target.closest('#results a')) results.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.closest('input')) return;
    event.preventDefault();
    field.focus();
  });
  // A page that is asked for with ?q=words shows what a search finds.
  const asked = new URLSearchParams(location.search).get('q');
  if (asked) {
    field.value = asked;
    loadIndex(show);
  }
}

document.addEventListener('DOMContentLoaded', () => {
  setUpSearch();
  document.getElementById('theme').addEventListener('click', () => {
    localStorage.setItem('theme', root.classList.contains('dark') ? 'light' : 'dark');
    applyTheme();
  });
  document.getElementById('menu').addEventListener('click', () => document.body.classList.toggle('menu-open'));
  document.querySelector('nav.side .here')?.scrollIntoView({block: 'nearest'});
});
