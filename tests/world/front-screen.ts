/** The screen "Front" of a separate WordPress, and the site on it. */
import type { Page } from '@playwright/test';
import { freePort } from '../../scripts/setup/ports.mjs';
import { type Newsroom, startNewsroom } from '../../wordpress/newsroom/tests/harness.ts';
import { live, signInToWordPress } from './newsroom.ts';
import { startOwnSite } from './own-site.ts';
import { expect } from './readers.ts';

/** Headlines of the section "National", the newest first. */
export const titles = 'Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ironwood Juniper Katsura Linden Maple Nutmeg'
  .split(' ')
  .map((tree) => `The ${tree}`);

export interface FrontSite {
  readonly newsroom: Newsroom;
  /** Address of the site. */
  readonly own: string;
  /** Opens the screen for an editor, the administrator unless another one is given. */
  openScreen(page: Page, user?: string, password?: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts WordPress with the stories of {@link titles} and the editor "ada", and a site that shows it. */
export async function startFrontSite(): Promise<FrontSite> {
  const port = await freePort();
  const newsroom = await startNewsroom(`http://127.0.0.1:${port}`);
  // Otherwise a scheduled front, and a delivery that is tried again, would wait for the screen's next heartbeat.
  await newsroom.cronEvery(5000);
  await newsroom.php(
    `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    update_option( 'timezone_string', 'America/New_York' );
    $section = get_terms( array( 'taxonomy' => 'category', 'slug' => 'national', 'hide_empty' => false ) );
    foreach ( $input as $at => $title ) { wp_insert_post( array( 'post_type' => 'articles', 'post_title' => $title, 'post_status' => 'publish', 'post_date' => gmdate( 'Y-m-d H:i:s', time() - 86400 - 60 * $at ), 'post_excerpt' => 'What happened in short.', 'post_content' => '<p>' . str_repeat( 'Words of the story. ', 200 ) . '</p>', 'post_category' => wp_list_pluck( $section, 'term_id' ) ) ); }
    wp_insert_user( array( 'user_login' => 'ada', 'user_pass' => 'ada', 'user_email' => 'ada@newsroom.invalid', 'display_name' => 'Ada Moss', 'role' => 'editor' ) );
    return 1;`,
    titles,
  );
  const own = await startOwnSite(
    {
      WORDPRESS_URL: newsroom.url,
      WORDPRESS_USER: newsroom.site.user,
      WORDPRESS_APP_PASSWORD: newsroom.site.password,
      NEWSROOM_SECRET: newsroom.secret,
      // The home page then changes only by what is published: new prices in its ticker would change it, too.
      QUOTES_KEY: '',
    },
    port,
  );
  return {
    newsroom,
    own: own.site,
    async openScreen(page, user = newsroom.adminUser, password = newsroom.adminPassword) {
      const { request } = page.context();
      await signInToWordPress(request, { url: newsroom.url, adminUser: user, adminPassword: password });
      await page.goto(`${newsroom.url}/wp-admin/admin.php?page=newsroom-front`);
      await expect(page.getByRole('heading', { name: 'Stories', exact: true })).toBeVisible();
    },
    async stop() {
      await own.stop();
      await newsroom.stop();
    },
  };
}

export const rows = (page: Page) => page.locator('.newsroom-front-slots > li');
export const titleOf = (page: Page, at: number) => rows(page).nth(at).locator('.newsroom-front-title');
/** Headlines of the list, in its order. */
export const order = (page: Page) => page.locator('.newsroom-front-slots .newsroom-front-title').allTextContents();
export const saved = (page: Page) => expect(page.locator('.newsroom-front-message')).toHaveText('Draft saved.');

/** Tabs to a control, as an editor without a mouse does. @returns how often the key was pressed */
export async function tabTo(page: Page, wanted: () => Promise<boolean>, key = 'Tab'): Promise<number> {
  for (let press = 0; press < 80; press++) {
    if (await wanted()) return press;
    await page.keyboard.press(key);
  }
  throw new Error('The control can’t be reached with the keyboard.');
}

/** Whether the control of this name has the focus. */
export const isFocused = (page: Page, name: string) => () =>
  page.evaluate(
    (text) =>
      document.activeElement?.textContent === text || document.activeElement?.getAttribute('aria-label') === text,
    name,
  );

/** Presses a button with the keyboard. */
export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).first().focus();
  await page.keyboard.press('Enter');
}

/** Publishes the front, and waits until the site has it. */
export async function publish(page: Page): Promise<void> {
  await press(page, 'Publish');
  await untilLive(page);
}

/** Waits until the site has the front that was published. */
export const untilLive = (page: Page) =>
  expect(page.locator('.newsroom-front-message')).toHaveText(/^Live on the site in [\d,]+ ms\.$/, live);
