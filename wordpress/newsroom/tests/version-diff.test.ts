/** How two versions of a story are compared: words, lines, long texts, other scripts, and the parts that aren't text. */
import { JSDOM } from 'jsdom';
import { beforeEach, describe, expect, it } from 'vitest';
import { newsroom, withNewsroom } from './opened.ts';

withNewsroom();

type Lines = readonly string[];

/** The rows of a comparison of lines, with unchanged lines. */
const rows = (old: Lines, now: Lines, inline = true): Promise<string> =>
  newsroom.php(`return newsroom_difference( $input[0], $input[1], $input[2], true );`, [old, now, inline]);
/** What one changed line shows, in one column. */
const line = async (old: string, now: string) => /Changed: <\/span>(.*?)<\/td>/.exec(await rows([old], [now]))?.[1];
/** The lines of the left column or of the right one. */
const column = (html: string, kind: 'deleted' | 'added') =>
  [
    ...new JSDOM(`<table>${html}</table>`).window.document.querySelectorAll(
      `.diff-${kind}line, .diff-context:${kind === 'added' ? 'last' : 'first'}-child`,
    ),
  ].map((cell) => cell.textContent?.replace(/^(Unchanged|Added|Deleted): /, ''));
/** Words as a story has them: some are frequent, most are not. */
const story = (count: number, every = 0) =>
  Array.from({ length: count }, (_, at) => {
    const word = at % 3 ? `word${(at * 7919) % 1500}` : ['the', 'of', 'and', 'to', 'a'][at % 5];
    return every && at % every === 5 ? `${word}x` : word;
  });

describe('a changed line', () => {
  it('shows numbers as they were written', async () => {
    expect(await line('Agent 7.', 'Agent 7 007.')).toBe('Agent 7<ins> 007</ins>.');
    expect(await line('It costs 0.50 or 1e3 now.', 'It costs 0.5 or 1000 now.')).toBe(
      'It costs 0.<del>50</del><ins>5</ins> or <del>1e3</del><ins>1000</ins> now.',
    );
    const html = await rows(['a', '7', 'b'], ['a', '7', '007', 'b'], false);
    expect(column(html, 'added')).toEqual(['a', '7', '007', 'b']);
  });

  it('marks whole words and characters in any script', async () => {
    expect(await line('The cafe\u0301 is closed today.', 'The cafe is closed today.')).toBe(
      'The <del>cafe\u0301</del><ins>cafe</ins> is closed today.',
    );
    expect(await line('A day for 👨‍👩‍👧, at last.', 'A day for 👨‍👩‍👦, at last.')).toBe(
      'A day for <del>👨‍👩‍👧</del><ins>👨‍👩‍👦</ins>, at last.',
    );
    expect(await line('यह हिन्दी में लिखा गया है', 'यह हिन्दु में लिखा गया है')).toBe(
      'यह <del>हिन्दी</del><ins>हिन्दु</ins> में लिखा गया है',
    );
    expect(await line('橋は月曜日に開通します', '橋は火曜日に開通します')).toBe(
      '橋は<del>月</del><ins>火</ins>曜日に開通します',
    );
  });

  it('shows markup, entities and quotes as they were written', async () => {
    expect(await line('<a href="/x">R&amp;D</a> isn’t done', '<a href="/y">R&amp;D</a> isn’t done')).toBe(
      '&lt;a href=&quot;/<del>x</del><ins>y</ins>&quot;&gt;R&amp;amp;D&lt;/a&gt; isn’t done',
    );
  });
});

describe('a comparison of many or long lines', () => {
  it('shows every line of both versions once and in order, however they were changed', async () => {
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    const cases = Array.from({ length: 40 }, () => {
      const old = Array.from({ length: 1 + random(12) }, () => story(3 + random(9)).join(' ') + random(4));
      const now = old.flatMap(
        (text) => [[text], [], [`${text} and more`], [`${random(20)}`, text], ['x']][random(5)] ?? [],
      );
      if (random(2)) now.push(...now.splice(0, random(now.length + 1)));
      return [old, now];
    });
    for (const [old = [], now = []] of cases) {
      const html = await rows(old, now, false);
      expect([column(html, 'deleted'), column(html, 'added')]).toEqual([old, now]);
    }
  });

  it('marks the changed words of 200 paragraphs', async () => {
    // Each has a length and letters of its own, as paragraphs have.
    const paragraph = (at: number, word: string) =>
      [...story(5 + ((at * 31) % 50)), word, 'aeioudnrst'[at % 10]?.repeat(5 + ((at * 13) % 37))].join(' ');
    const paragraphs = (word: string) => Array.from({ length: 200 }, (_, at) => paragraph(at, word));
    const html = await rows(paragraphs('Monday'), paragraphs('Mondayx'));
    expect(html.match(/Changed: <\/span>/g)).toHaveLength(200);
    expect(html.match(/<del>\w+<\/del><ins>\w+x<\/ins>/g)).toHaveLength(200);
  });

  it('marks the changed words of a paragraph of 8,000 words within seconds', async () => {
    const start = performance.now();
    const html = await line(story(8000).join(' '), story(8000, 20).join(' '));
    expect(html?.match(/<ins>/g)).toHaveLength(400);
    // A comparison for which each space is a word takes more than a minute.
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it('marks the whole line if it repeats too few words too often', async () => {
    const html = await rows([`${'na '.repeat(50_000)}end`], [`${'na '.repeat(50_001)}the end`], false);
    expect(html.match(/<del>|<ins>/g)).toEqual(['<del>', '<ins>']);
  });
});

describe('the parts of a story that are not its text', () => {
  let article = 0;
  const save = (part: object, id = article, type = 'articles') =>
    newsroom.rest(`/wp/v2/${type}/${id}`, { as: 'admin', method: 'POST', body: part });
  /** The changes of the newest version, as the screen shows them. */
  const changes = (id = article): Promise<string> =>
    newsroom.php(
      `$_GET = array( 'story' => (string) $input, 'changes' => (string) newsroom_last_version( $input )->id, 'view' => 'inline' ); ob_start(); newsroom_print_comparison( get_post( $input ) ); return ob_get_clean();`,
      id,
    );

  beforeEach(async () => {
    const made = await newsroom.rest('/wp/v2/articles', {
      as: 'admin',
      method: 'POST',
      body: { title: 'The Bridge', status: 'publish', content: 'It opens.' },
    });
    article = made.json.id;
  });

  it('include the start and the end of a headline test', async () => {
    const test = { state: 'running', variants: [{ headline: 'Second', image: 0 }] };
    await save({ meta: { newsroom_headline_test: test } });
    expect(await changes()).toMatch(/<ins>Second<\/ins>.*<ins>Running<\/ins>/s);
    await save({ meta: { newsroom_headline_test: { ...test, state: 'ended', ended: '2026-11-25T13:00:00Z' } } });
    expect(await changes()).toContain('<ins>Stopped by an editor on November 25, 2026.</ins>');
  });

  it('include each footnote', async () => {
    const notes = (text: string) =>
      JSON.stringify([
        { id: 'a', content: 'See the report.' },
        { id: 'b', content: text },
      ]);
    await save({ meta: { footnotes: notes('Page 3 of it.') } });
    await save({ meta: { footnotes: notes('Page 4 of it.') } });
    const html = await changes();
    expect(html).toContain('Unchanged: </span>See the report.');
    expect(html).toContain('Page <del>3</del><ins>4</ins> of it.');
  });

  it('include a live entry’s story by its headline', async () => {
    const other = await newsroom.rest('/wp/v2/articles', {
      as: 'admin',
      method: 'POST',
      body: { title: 'The Tunnel', status: 'publish' },
    });
    const entry = await newsroom.rest('/wp/v2/live-entries', {
      as: 'admin',
      method: 'POST',
      body: { title: 'Now', status: 'publish', meta: { newsroom_story: article } },
    });
    await save({ meta: { newsroom_story: other.json.id, newsroom_key_event: true } }, entry.json.id, 'live-entries');
    const html = await changes(entry.json.id);
    expect(html).toContain('Story: The <del>Bridge</del><ins>Tunnel</ins>');
    expect(html).toContain('<ins>Key event: Yes</ins>');
  });

  it('are not shown if a version is damaged in the database, and the screen says so', async () => {
    await save({ title: 'The New Bridge' });
    const row = await newsroom.php(
      `global $wpdb; $row = newsroom_last_version( $input ); $wpdb->update( newsroom_version_table(), array( 'content' => substr( $row->content, 0, 20 ) ), array( 'id' => $row->id ) ); return $row->id;`,
      article,
    );
    expect(await changes()).toContain('One of these versions is damaged in the database');
    const restored = await newsroom.php(
      `$_GET = array( 'newsroom_version' => (string) $input[1] ); return newsroom_version_to_restore( get_post( $input[0] ) );`,
      [article, row],
    );
    expect(restored).toBeNull();
    expect((await save({ title: 'The Newest Bridge' })).status).toBe(200);
  });
});
