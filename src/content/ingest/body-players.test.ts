import { JSDOM } from 'jsdom';
import { expect, it } from 'vitest';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { shapeBody } from './body.server.ts';

const asked: string[] = [];
const vtt = 'WEBVTT\n\n00:00.000 --> 00:02.000\nGood evening.\n';

async function players(html: string): Promise<Document> {
  const { html: shaped } = await shapeBody(sanitizer, html, {
    ...plainContext,
    base: 'https://cms.example/articles/one/',
    mediaHosts: ['media.example'],
    measure: async () => ({ width: 1280, height: 720 }),
    captions: async (url) => {
      asked.push(url);
      return url.endsWith('.vtt') ? vtt : null;
    },
  });
  return new JSDOM(shaped).window.document;
}
const uploads = 'https://cms.example/wp-content/uploads/2026/11';

it('an audio block keeps its player, with the browser’s controls and its caption', async () => {
  const document = await players(
    `<p>Before.</p><figure class="wp-block-audio"><audio controls autoplay src="${uploads}/talk.mp3" onplay="x()"></audio><figcaption>The mayor, on Tuesday</figcaption></figure>`,
  );
  const audio = document.querySelector('figure.wp-block-audio > audio');
  expect(Object.fromEntries([...(audio?.attributes ?? [])].map(({ name, value }) => [name, value]))).toEqual({
    controls: '',
    preload: 'none',
    'aria-label': 'The mayor, on Tuesday',
    src: `${uploads}/talk.mp3`,
  });
  expect(document.querySelector('figcaption')?.textContent).toBe('The mayor, on Tuesday');
});

it('an audio player without a figure gets one, behind the paragraph that it is in', async () => {
  const audio = (name: string) => `<audio src="${uploads}/${name}.mp3"></audio>`;
  const document = await players(
    `${audio('alone')}<p>Listen: ${audio('one')} and ${audio('two')}</p><p><a>${audio('three')}</a></p><blockquote>${audio('quoted')}</blockquote>`,
  );
  expect([...document.body.children].map(({ localName }) => localName)).toEqual([
    'figure',
    'p',
    'figure',
    'figure',
    'figure',
    'blockquote',
  ]);
  const files = [...document.querySelectorAll('figure > audio')].map((player) => player.getAttribute('src'));
  expect(files).toEqual(['alone', 'one', 'two', 'three', 'quoted'].map((name) => `${uploads}/${name}.mp3`));
});

it('a video keeps its size, poster, allowed sources and captions, which are inlined', async () => {
  asked.length = 0;
  const document = await players(
    `<figure class="wp-block-video"><video height="720" width="1280" controls muted poster="${uploads}/still.jpg"><source src="${uploads}/film.webm" type="video/webm"><source src="https://media.example/film.mp4" type='video/mp4; codecs="avc1.42E01E"'><source src="https://evil.example/x.mp4"><track src="${uploads}/film.vtt" label="English" srclang="en" kind="captions" default><track src="https://evil.example/x.vtt" kind="captions"></video></figure>`,
  );
  const video = document.querySelector('figure.wp-block-video > video');
  expect([video?.getAttribute('width'), video?.getAttribute('height'), video?.getAttribute('preload')]).toEqual([
    '1280',
    '720',
    'none',
  ]);
  expect(video?.getAttribute('poster')).toMatch(/^\/image\?url=https%3A%2F%2Fcms\.example/u);
  expect([...document.querySelectorAll('source')].map((source) => [source.src, source.type])).toEqual([
    [`${uploads}/film.webm`, 'video/webm'],
    ['https://media.example/film.mp4', 'video/mp4; codecs="avc1.42E01E"'],
  ]);
  const [track, ...others] = document.querySelectorAll('track');
  expect(others).toEqual([]);
  expect([track?.kind, track?.srclang, track?.label, track?.default]).toEqual(['captions', 'en', 'English', true]);
  const [head, text = ''] = track?.src.split(',') ?? [];
  expect([head, Buffer.from(text, 'base64').toString()]).toEqual(['data:text/vtt;base64', vtt]);
  expect(asked).toEqual([`${uploads}/film.vtt`]);
});

it('a video shortcode keeps its player, and sources outside of a player are removed', async () => {
  const document = await players(
    `<div style="width: 640px;" class="wp-video"><video class="wp-video-shortcode" id="video-1-1" width="640" height="360" preload="metadata" controls="controls"><source type="video/mp4" src="${uploads}/clip.mp4?_=1" /><a href="${uploads}/clip.mp4">${uploads}/clip.mp4</a></video></div><source src="${uploads}/stray.mp4"><track src="${uploads}/stray.vtt">`,
  );
  expect(document.querySelector('video')?.getAttribute('src')).toBe(`${uploads}/clip.mp4?_=1`);
  // Without a picture the player would be black: the browser may look for the first one.
  expect(document.querySelector('video')?.getAttribute('preload')).toBe('metadata');
  expect(document.querySelector('video')?.textContent).toBe('');
  expect(document.querySelectorAll('source, track')).toHaveLength(0);
});

it('a player for a file on another host becomes a link, and one for a script is removed', async () => {
  const document = await players(
    '<audio controls src="https://pods.example/x.mp3"></audio><video src="javascript:alert(1)"></video><audio></audio>',
  );
  expect(document.querySelectorAll('audio, video')).toHaveLength(0);
  expect([...document.querySelectorAll('a')].map((link) => [link.href, link.textContent])).toEqual([
    ['https://pods.example/x.mp3', 'Listen to the recording'],
  ]);
});

it('WordPress’s comments and comment form are removed from a body', async () => {
  const document = await players(
    '<p>Text.</p><div id="respond" class="comment-respond"><h3 id="reply-title">Leave a Reply</h3><form><p class="logged-in-as">Logged in as admin</p><label>Comment</label></form></div><div class="wp-block-comments"><p>Old comments</p></div>',
  );
  expect(document.body.innerHTML).toBe('<p>Text.</p>');
});
