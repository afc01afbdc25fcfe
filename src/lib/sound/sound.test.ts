import { describe, expect, it } from 'vitest';
import {
  audioAddresses,
  clockTime,
  isoLength,
  lengthWords,
  soundPath,
  transcriptType,
  withPaidAudio,
  withPlayerTools,
} from './model.ts';

const one = '<figure><audio controls="" preload="none" src="https://cms.example/a.mp3"></audio></figure>';
const two =
  '<audio controls=""><source src="https://cms.example/b.ogg" type="audio/ogg"><source src="https://cms.example/b.mp3?x=1&amp;y=2"><track src="data:text/vtt;base64,AA"></audio>';
const film = '<video controls="" src="https://cms.example/film.mp4"></video>';

describe('the recordings in a story’s text', () => {
  it('are found in order, with all formats, and without videos', () => {
    expect(audioAddresses(`${film}<p>Words.</p>${one}${two}`)).toEqual([
      'https://cms.example/a.mp3',
      'https://cms.example/b.ogg',
      'https://cms.example/b.mp3?x=1&y=2',
    ]);
    expect(audioAddresses('<p>src="https://cms.example/a.mp3"</p>')).toEqual([]);
  });

  it('get numbered URLs of the site if the story is restricted', () => {
    const html = withPaidAudio(`${film}${one}${two}`, 12);
    expect(html).not.toMatch(/cms\.example\/(?:a|b)/);
    expect(html).toContain('cms.example/film.mp4');
    expect([...html.matchAll(/src="(\/sound[^"]*)"/g)].map(([, src]) => src)).toEqual([
      soundPath(12, 1),
      soundPath(12, 2),
      soundPath(12, 3),
    ]);
    // Captions are in the page itself.
    expect(html).toContain('data:text/vtt');
  });

  it('get player buttons, one set for each recording', () => {
    expect(withPlayerTools(one + two).match(/class="sound-tools"/g)).toHaveLength(2);
    expect(withPlayerTools('<p>Words.</p>')).toBe('<p>Words.</p>');
  });
});

it('the URL of a recording has the extension of its media type', () => {
  expect([soundPath(1, 0, 'audio/mpeg'), soundPath(1, 0, 'audio/x-odd')]).toEqual(['/sound/1/0.mp3', '/sound/1/0']);
});

it.each([
  [0, '0:00', '', undefined],
  [59, '0:59', '59 sec', 'PT0M59S'],
  [754, '12:34', '13 min', 'PT12M34S'],
  [3590, '59:50', '1 hr', 'PT59M50S'],
  [3854, '1:04:14', '1 hr 4 min', 'PT64M14S'],
])('a length of %i seconds is formatted as a clock time, in words and in ISO 8601', (seconds, clock, words, iso) => {
  expect([clockTime(seconds), lengthWords(seconds), isoLength(seconds)]).toEqual([clock, words, iso]);
});

it('a transcript is WebVTT only if its first line is WEBVTT', () => {
  expect(transcriptType({ transcript: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHi' })).toBe('text/vtt');
  expect(transcriptType({ transcript: 'WEBVTTX' })).toBe('text/plain');
});
