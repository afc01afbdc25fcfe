/** The newsroom's WordPress in a browser: signing in, its REST API, and a panel of the block editor. */
import { type APIRequestContext, type BrowserContext, expect, type Locator, type Page } from '@playwright/test';
import { testWordPress } from './world.ts';

const ofTest = 'oftest';

/** WordPress keeps its data between runs, so what a test looks for must be unique. */
export const unique = (): string => `${ofTest}${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;

/** Whether a story was written by a test, which may withdraw it at any moment. @param path with {@link unique} in its slug */
export const isOfTest = (path: string): boolean => path.includes(ofTest);

/**
 * How long to wait for what an editor changed to be on the site. Usually it is there within a second; a site that is too busy to answer
 * WordPress within five seconds gets the change at one of the next tries, which took 75 seconds on a busy machine.
 */
export const live = { timeout: 180_000 };

export interface Newsroom {
  /** Of WordPress. */
  readonly url: string;
  /** Creates, changes or deletes a document. @param path below `/wp/v2/` */
  save(path: string, data: object, method?: 'POST' | 'DELETE'): Promise<{ id: number; slug: string }>;
}

interface Administrator {
  /** Of WordPress. */
  readonly url: string;
  readonly adminUser: string;
  readonly adminPassword: string;
}

/** Signs in to WordPress, as the demo's administrator unless another one is given. @returns the nonce for its REST API */
export async function signInToWordPress(
  request: APIRequestContext,
  { url, adminUser, adminPassword }: Administrator = testWordPress(),
): Promise<string> {
  await request.get(`${url}/wp-login.php`);
  await request.post(`${url}/wp-login.php`, { form: { log: adminUser, pwd: adminPassword, testcookie: '1' } });
  const nonce = await (await request.get(`${url}/wp-admin/admin-ajax.php?action=rest-nonce`)).text();
  expect(nonce, 'signed in to WordPress').toMatch(/^[\da-f]{10}$/);
  return nonce;
}

/** Signs an administrator in, the demo's unless another WordPress is given. */
export async function openNewsroom(
  context: BrowserContext,
  administrator: Administrator = testWordPress(),
): Promise<Newsroom> {
  const { request } = context;
  const { url } = administrator;
  const nonce = await signInToWordPress(request, administrator);
  return {
    url,
    async save(path, data, method = 'POST') {
      const answer = await request.fetch(`${url}/wp-json/wp/v2/${path}`, {
        method,
        headers: { 'X-WP-Nonce': nonce },
        maxRetries: 2,
        data,
      });
      expect(answer.ok(), await answer.text()).toBe(true);
      return answer.json();
    },
  };
}

/** Opens a story in the block editor, and one of its panels. @param holds text that the panel shows once it is there */
export async function openPanel(
  page: Page,
  url: string,
  id: number,
  name: string,
  holds = 'input, button:not([aria-expanded]), textarea',
): Promise<Locator> {
  await page.goto(`${url}/wp-admin/post.php?post=${id}&action=edit`);
  await page.waitForFunction(() => Reflect.get(window, 'wp')?.data?.select('core/editor')?.getCurrentPostId());
  await page.evaluate(() => {
    const { dispatch } = Reflect.get(window, 'wp').data;
    dispatch('core/preferences').set('core/edit-post', 'welcomeGuide', false);
    dispatch('core/edit-post').openGeneralSidebar('edit-post/document');
    // The editor ignores the shortcut to save while it saves by itself, which it does each minute.
    dispatch('core/editor').lockPostAutosaving('test');
  });
  const opener = page.getByRole('button', { name, exact: true });
  const panel = page.locator('.components-panel__body', { has: opener });
  // While the editor is still opening, it may move the focus between the two steps, so that the key is lost.
  await expect(async () => {
    if ((await opener.getAttribute('aria-expanded')) !== 'true') await opener.press('Enter');
    await expect(panel.locator(holds).first()).toBeVisible({ timeout: 5000 });
  }).toPass();
  return panel;
}

/**
 * Waits until the story is saved. The editor ignores the key to save during another save, such as the automatic one of each minute, and while
 * boxes are saved after the post: then this presses it again.
 */
export async function untilSaved(page: Page): Promise<void> {
  for (;;) {
    const state = await page.waitForFunction(() => {
      const { select } = Reflect.get(window, 'wp').data;
      if (select('core/editor').isSavingPost() || select('core/edit-post').isSavingMetaBoxes()) return null;
      return select('core/editor').isEditedPostDirty() ? 'changed' : 'saved';
    });
    if ((await state.jsonValue()) === 'saved') return;
    await page.keyboard.press('ControlOrMeta+s');
  }
}

/** Saves by the editor's own shortcut, and waits: the editor ignores a save during another. */
export async function saveByKey(page: Page): Promise<void> {
  await page.keyboard.press('ControlOrMeta+s');
  await untilSaved(page);
}

/** A page of the site as it is sent. */
export const textOf = async (page: Page, path: string): Promise<string> => (await page.request.get(path)).text();
