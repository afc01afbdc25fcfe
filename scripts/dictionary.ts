/**
 * Makes the shared dictionary of a build (docs/decisions/0035): a section page and a story page with placeholder text. It contains no
 * published content, so nothing in it can ever be withdrawn, and the same sources always give the same file. `npm run build` runs it
 * as a separate process.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openContentStore } from '../src/content/store/content-store.server.ts';
import { storeSections } from '../src/content/store/navigation.server.ts';
import { storeDocument } from '../src/content/store/write.server.ts';
import { silent } from '../src/lib/logging.ts';
import { publication } from '../src/publication.ts';
import { compose, contentFile } from '../src/server/compose.ts';
import { parseConfig } from '../src/server/config/config.ts';
import { loadPages } from '../src/server/http/page-renderer.ts';
import { createPressRender } from '../src/server/press/render-page.ts';
import { placeholderAuthor, placeholderStory } from './dictionary-story.ts';
import { root } from './setup/places.mjs';

const siteUrl = 'https://www.example.com';
const picture = `${siteUrl}/wp-content/uploads/2026/01/the-front-of-the-old-building.jpg`;
const author = 900;

const { sections } = publication;
const opinionSections: readonly string[] = publication.opinionSections;
const opinion = sections.find(({ slug }) => opinionSections.includes(slug));
const news = sections.find(({ slug }) => !opinionSections.includes(slug));
/** The last story ends up nearest to the compressed page, and is the most typical one. */
const stories = [
  { id: 1, slug: 'the-council-has-voted-on-the-bill', terms: opinion ? [opinion.id] : [], access: 'subscriber' },
  { id: 2, slug: 'city-council-votes-on-the-bill', terms: news ? [news.id] : [], access: 'default' },
] as const;

/**
 * Settings that turn on everything that can be in a page: what a site doesn't use only makes the dictionary larger. No service
 * is called.
 */
const settings = {
  SITE_URL: siteUrl,
  LOG_LEVEL: 'silent',
  WORDPRESS_URL: siteUrl,
  WORDPRESS_USER: 'none',
  WORDPRESS_APP_PASSWORD: 'none',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'none@example.com',
  GOOGLE_CLIENT_ID: 'none',
  GOOGLE_CLIENT_SECRET: 'none',
  FACEBOOK_CLIENT_ID: '1',
  FACEBOOK_CLIENT_SECRET: 'none',
  STRIPE_SECRET_KEY: 'sk_test_none',
  STRIPE_PUBLISHABLE_KEY: 'pk_test_none',
  STRIPE_WEBHOOK_SECRET: 'whsec_none',
  STRIPE_API_URL: 'http://127.0.0.1:9',
};

function fillContent(dir: string): void {
  const store = openContentStore({ file: join(dir, contentFile), origin: null, log: silent });
  const fetched = { at: 1, clock: 0 };
  store.transaction(() => {
    storeSections(
      store,
      sections.map(({ navigationPosition: position, ...section }) => ({ ...section, position })),
    );
    storeDocument(store, placeholderAuthor(author), fetched);
    for (const story of stories) storeDocument(store, placeholderStory(story, author, picture), fetched);
  });
  store.close();
}

/** @param dist folder of the build */
async function makeDictionary(dist: string): Promise<Buffer> {
  const dir = mkdtempSync(join(tmpdir(), 'dictionary-'));
  try {
    fillContent(dir);
    const app = await compose(parseConfig({ ...settings, DATA_DIR: dir }), silent);
    try {
      const render = createPressRender(await loadPages(join(dist, 'server', 'entry.mjs')), siteUrl, app.locals);
      const bodies: Buffer[] = [];
      for (const key of [`/section/${news?.slug}`, ...stories.map(({ slug }) => `/article/${slug}`)]) {
        const { status, body } = await render(key, 'public');
        if (status !== 200) throw new Error(`The page ${key} of the shared dictionary answered ${status}.`);
        bodies.push(body);
      }
      return Buffer.concat(bodies);
    } finally {
      await app.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const dist = join(root, 'dist');
const assets = join(dist, 'client', '_assets');
const bytes = await makeDictionary(dist);
for (const name of readdirSync(assets)) if (/^pages\..+\.dict/.test(name)) rmSync(join(assets, name));
const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 8);
const file = join(assets, `pages.${hash}.dict`);
writeFileSync(file, bytes);
// The data folder has set a stricter mask, and the site may run as another user than the build.
chmodSync(file, 0o644);
