// Plays the crossword in the page: type, arrow keys, Tab between words, space to turn, Check, Reveal word, Clear.
(() => {
  const game = JSON.parse(document.getElementById('game').textContent);
  const answer = game.rows.join('');
  const inputs = new Map([...document.querySelectorAll('[data-cell]')].map((el) => [Number(el.dataset.cell), el]));
  const clue = document.getElementById('clue');
  const done = document.getElementById('done');
  let direction = 'across';
  let current = null;

  const entryAt = (cell, way) => game[way].find((entry) => entry.cells.includes(cell));
  const labelOf = (cell) => inputs.get(cell).parentElement;

  function show(cell) {
    const entry = entryAt(cell, direction) ?? entryAt(cell, (direction = direction === 'across' ? 'down' : 'across'));
    current = entry;
    for (const index of inputs.keys()) labelOf(index).classList.toggle('word', entry.cells.includes(index));
    clue.replaceChildren(Object.assign(document.createElement('b'), { textContent: `${entry.number} ${direction}` }), entry.clue);
    for (const button of document.querySelectorAll('[data-entry]')) {
      button.setAttribute('aria-current', String(button.dataset.entry === `${direction}-${entry.number}`));
    }
  }
  const go = (cell) => inputs.get(cell)?.focus();
  const step = (by) => {
    const at = current.cells.indexOf(Number(document.activeElement.dataset.cell));
    const next = current.cells[at + by];
    if (next !== undefined) go(next);
  };
  function nextWord(by) {
    const all = [...game.across.map((e) => ['across', e]), ...game.down.map((e) => ['down', e])];
    const at = all.findIndex(([way, entry]) => way === direction && entry === current);
    const [way, entry] = all[(at + by + all.length) % all.length];
    direction = way;
    const target = entry.cells.find((cell) => !inputs.get(cell).value) ?? entry.cells[0];
    if (document.activeElement === inputs.get(target)) show(target);
    else go(target);
  }
  const save = () => {
    try {
      localStorage.setItem(`crossword-${game.slug}`, [...inputs.values()].map((el) => el.value || ' ').join(''));
    } catch {
      // A frame without storage still plays the crossword.
    }
  };
  function finish() {
    const solved = [...inputs].every(([cell, el]) => el.value === answer[cell]);
    const message = solved ? 'Solved. It shines for all.' : '';
    if (done.textContent !== message) done.textContent = message;
    return solved;
  }
  function put(el, letter) {
    el.value = letter;
    el.parentElement.classList.remove('wrong', 'shown');
    save();
    finish();
  }

  for (const [cell, el] of inputs) {
    el.addEventListener('focus', () => show(cell));
    el.addEventListener('mousedown', () => {
      if (document.activeElement !== el) return;
      direction = direction === 'across' ? 'down' : 'across';
      show(cell);
    });
    el.addEventListener('input', () => {
      const letter = (el.value.match(/[a-z]/gi) ?? []).at(-1)?.toUpperCase() ?? '';
      put(el, letter);
      if (letter) step(1);
    });
    el.addEventListener('keydown', (event) => {
      const width = game.width;
      const moves = { ArrowRight: ['across', 1], ArrowLeft: ['across', -1], ArrowDown: ['down', width], ArrowUp: ['down', -width] };
      const move = moves[event.key];
      if (move) {
        event.preventDefault();
        const next = cell + move[1];
        const sameRow = Math.floor(next / width) === Math.floor(cell / width);
        if (direction !== move[0] && entryAt(cell, move[0])) {
          direction = move[0];
          show(cell);
        } else if (inputs.has(next) && (move[0] === 'down' || sameRow)) go(next);
      } else if (event.key === ' ') {
        event.preventDefault();
        direction = direction === 'across' ? 'down' : 'across';
        show(cell);
      } else if (event.key === 'Backspace' && !el.value) {
        event.preventDefault();
        step(-1);
        if (document.activeElement !== el) put(document.activeElement, '');
      } else if (event.key === 'Enter') {
        event.preventDefault();
        nextWord(event.shiftKey ? -1 : 1);
      }
    });
  }
  for (const button of document.querySelectorAll('[data-entry]')) {
    button.addEventListener('click', () => {
      const [way, number] = button.dataset.entry.split('-');
      direction = way;
      const entry = game[way].find((each) => each.number === Number(number));
      go(entry.cells.find((cell) => !inputs.get(cell).value) ?? entry.cells[0]);
    });
  }
  document.getElementById('check').addEventListener('click', () => {
    let wrong = 0;
    for (const [cell, el] of inputs) {
      const bad = el.value !== '' && el.value !== answer[cell];
      el.parentElement.classList.toggle('wrong', bad);
      if (bad) wrong += 1;
    }
    if (!finish()) done.textContent = wrong ? `${wrong} ${wrong === 1 ? 'letter is' : 'letters are'} wrong.` : 'So far, so good.';
  });
  document.getElementById('reveal').addEventListener('click', () => {
    for (const cell of current.cells) {
      put(inputs.get(cell), answer[cell]);
      labelOf(cell).classList.add('shown');
    }
  });
  document.getElementById('clear').addEventListener('click', () => {
    for (const el of inputs.values()) put(el, '');
  });

  try {
    const kept = localStorage.getItem(`crossword-${game.slug}`) ?? '';
    [...inputs.values()].forEach((el, index) => {
      if (/[A-Z]/.test(kept[index] ?? '')) el.value = kept[index];
    });
  } catch {
    // A frame without storage still plays the crossword.
  }
  show([...inputs.keys()][0]);
  finish();
})();
