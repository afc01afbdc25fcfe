// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import { draftName } from '../../lib/comments/drafts.ts';
import { commentInvalid, tooLong } from '../../lib/comments/schema.ts';
import { draw, named, submit, type } from '../shared/testing.tsx';
import { Composer, wrongField } from './Composer.tsx';

afterEach(() => {
  localStorage.clear();
  vi.unstubAllGlobals();
});

it('a comment’s first wrong field is reported: an empty or too long text, then a missing name', () => {
  expect(wrongField('  \n ', 10, undefined)).toEqual({ field: 'text', message: commentInvalid.empty });
  expect(wrongField('twelve signs', 10, '')).toEqual({ field: 'text', message: tooLong(2) });
  expect(wrongField('short', 10, '')).toEqual({ field: 'name', message: commentInvalid.noName });
  expect(wrongField('short', 10, undefined)).toBeNull();
  expect(wrongField('short', 10, 'Ada Lovelace')).toBeNull();
});

const removedElsewhere = (name: string) =>
  act(async () => void dispatchEvent(new StorageEvent('storage', { key: name, newValue: null })));

it.each<[string, boolean, (area: HTMLTextAreaElement) => Promise<void>]>([
  ['nothing has changed', true, async () => {}],
  ['another tab has removed another draft', true, () => removedElsewhere(draftName(7, 3))],
  ['another tab has posted the draft', false, () => removedElsewhere(draftName(7, 0))],
  ['the text was emptied', false, (area) => type(area, ' ')],
])('a comment that is sent again is the same comment only while its draft is: %s', async (_, same, change) => {
  const keys: unknown[] = [];
  vi.stubGlobal('fetch', async (_path: string, { body }: RequestInit) => {
    keys.push(JSON.parse(String(body)).draft);
    return Response.json({}, { status: 503 });
  });
  const drawn = await draw(
    <Composer article={7} parent={0} longest={99} name="Ada" label="Your comment" onPosted={() => {}} />,
  );
  const area = named<HTMLTextAreaElement>('textarea', 'Your comment');
  const send = () => submit(area.form as HTMLFormElement);
  await type(area, 'First');
  await send();
  await vi.waitFor(() => expect(area.readOnly).toBe(false));
  await change(area);
  await type(area, 'Second');
  await send();
  await vi.waitFor(() => expect(keys).toHaveLength(2));
  expect(keys[0] === keys[1]).toBe(same);
  await drawn.remove();
});
