import { describe, expect, it } from 'vitest';
import { shareLinks } from './model.ts';
import { piecesOf, voiceFor } from './speech.ts';
import { readingScript, textSizeName } from './tools.ts';

describe('reading aloud', () => {
  it('splits text into sentences, and long sentences between words', () => {
    const long = `${'word '.repeat(100)}end.`;
    const pieces = piecesOf(['One sentence.  Another\nsentence!', '', long], 'en-US');
    expect(pieces.slice(0, 2)).toEqual([
      { text: 'One sentence.', block: 0 },
      { text: 'Another sentence!', block: 0 },
    ]);
    expect(pieces.slice(2).every(({ text, block }) => text.length <= 220 && block === 2)).toBe(true);
    expect(
      pieces
        .slice(2)
        .map(({ text }) => text)
        .join(' '),
    ).toBe(long);
  });

  it('chooses a voice for the language, preferring the same region and voices on the device', () => {
    const voice = (name: string, lang: string, localService = true) => ({ name, lang, localService, default: false });
    const voices = [
      voice('Anna', 'de-DE'),
      voice('Cloud', 'en-US', false),
      voice('Kate', 'en-GB'),
      voice('Sam', 'en_US'),
    ];
    expect(voiceFor(voices, 'en-US')?.name).toBe('Sam');
    expect(voiceFor(voices, 'en-AU')?.name).toBe('Kate');
    expect(voiceFor(voices, 'fr-FR')).toBeNull();
  });
});

describe('share links', () => {
  it('carry the headline with special characters intact, the address and the newspaper’s name, and nothing else', () => {
    const url = 'https://paper.example/article/a-b';
    const title = 'Salt & “Chalk” + 50%';
    const links = shareLinks(url, title, 'The Sun');
    const parts = links.map(({ href }) => [href.split('?')[0], Object.fromEntries(new URL(href).searchParams)]);
    expect(parts).toEqual([
      ['mailto:', { subject: `${title} (The Sun)`, body: `${title}\n\n${url}` }],
      ['https://x.com/intent/post', { text: title, url }],
      ['https://www.facebook.com/sharer/sharer.php', { u: url }],
    ]);
    // Mail programs don't read a plus sign as a space.
    expect(links[0]?.href).not.toContain('+');
  });
});

describe('the script in an article’s head', () => {
  const run = (stored: () => Record<string, string>, speech: unknown) => {
    const dataset: Record<string, string> = {};
    const storage = new Proxy({}, { get: (_, name) => stored()[String(name)] });
    new Function('document', 'localStorage', 'window', readingScript)({ documentElement: { dataset } }, storage, {
      speechSynthesis: speech,
    });
    return dataset;
  };

  it('sets the chosen text size, and marks browsers that cannot read aloud', () => {
    expect(run(() => ({ [textSizeName]: 'large' }), {})).toEqual({ textSize: 'large' });
    expect(run(() => ({}), undefined)).toEqual({ mute: '' });
  });

  it('does nothing when storage is blocked', () => {
    const blocked = () => {
      throw new Error('blocked');
    };
    expect(run(blocked, {})).toEqual({});
  });
});
