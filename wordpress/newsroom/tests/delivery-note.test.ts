/** What an editor reads about the delivery of a page. */
import { expect, it } from 'vitest';
import { boxOf, newsroom, receiver, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

it.each([
  ['has no page with the address of a WordPress page', { shown: false }, 'no page with this address'],
  [
    'can’t read a page',
    { shown: true, invalid: { field: 'title', problem: 'too long' } },
    'can’t read title (too long)',
  ],
])('the delivery note says that the site %s', async (_, answer, message) => {
  receiver.reply = () => ({ status: 200, body: { ok: true, refreshed: [], ms: 7, ...answer } });
  const { json } = await newsroom.rest('/wp/v2/pages', {
    as: 'admin',
    method: 'POST',
    body: { title: 'Our cafeteria', status: 'publish', content: 'Soup.' },
  });
  await untilSent(newsroom);
  const note = async () => (await newsroom.rest(`/newsroom/v1/delivery/${json.id}`, { as: 'admin' })).json;
  expect(await note()).toMatchObject({ state: 'done', message: expect.stringContaining(message) });
  expect(await boxOf(json.id, 'newsroom_delivery_box')).not.toContain('Open it');
  await newsroom.rest(`/wp/v2/pages/${json.id}`, { as: 'admin', method: 'DELETE' });
  await untilSent(newsroom);
  expect((await note()).message).toMatch(/^Removed from the site/);
});
