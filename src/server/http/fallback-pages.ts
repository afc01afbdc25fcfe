/** Pages for when rendering fails or isn't possible yet: self-contained, without scripts, in the newspaper's design. */
import { publication } from '../../publication.ts';

interface Words {
  readonly title: string;
  readonly heading: string;
  readonly lines: readonly string[];
  /** Markup of a link or button, if any. */
  readonly action?: string;
  /** Seconds after which the browser reloads the page. */
  readonly refresh?: number;
}

const page = ({ title, heading, lines, action, refresh }: Words): string => `<!doctype html>
<html lang="${publication.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh ? `<meta http-equiv="refresh" content="${refresh}">\n` : ''}<title>${title} · ${publication.name}</title>
<style>
:root { color-scheme: light; }
* { box-sizing: border-box; margin: 0; }
body { min-height: 100vh; display: grid; grid-template-rows: auto 1fr auto; padding: 1.5rem; background: #f9f9f5; color: #16130f;
  font: 1.125rem/1.55 Georgia, 'Times New Roman', serif; text-align: center; }
header { border-bottom: 4px double #16130f; padding-bottom: .75rem; }
header p:first-child { font-size: clamp(2.5rem, 9vw, 4.5rem); line-height: 1.1; letter-spacing: -.02em; }
header p:last-child { font-style: italic; color: #57524a; }
main { align-self: center; justify-self: center; max-width: 34rem; padding: 3rem 0; }
h1 { font-size: clamp(1.75rem, 5vw, 2.75rem); line-height: 1.15; font-weight: 400; text-wrap: balance; }
h1::after { content: ''; display: block; width: 4rem; border-top: 2px solid #b3201f; margin: 1.25rem auto; }
main p + p { margin-top: .75rem; }
a { display: inline-block; margin-top: 1.5rem; padding: .6rem 1.4rem; background: #16130f; color: #fff; text-decoration: none; }
a:focus-visible { outline: 3px solid #b3201f; outline-offset: 3px; }
footer { border-top: 1px solid #16130f; padding-top: .75rem; font-size: .875rem; color: #57524a; }
</style>
</head>
<body>
<header><p>${publication.name}</p><p>${publication.motto}</p></header>
<main>
<h1>${heading}</h1>
${lines.map((line) => `<p>${line}</p>`).join('\n')}
${action ?? ''}
</main>
<footer>Founded ${publication.founded}</footer>
</body>
</html>
`;

/** Sent with 503 and Retry-After while no edition has been synced; the page reloads itself. */
export const noEditionPage: string = page({
  title: 'No edition yet',
  heading: 'The first edition is coming soon',
  lines: ['We’re still fetching the first stories from our newsroom.', 'This page reloads every few seconds.'],
  refresh: 5,
});

/** Sent with 503 and Retry-After for a page of the archive that isn't copied yet; the page reloads itself. */
export const notCopiedPage: string = page({
  title: 'Not here yet',
  heading: 'We’re still fetching this page',
  lines: ['We’re setting up our archive, and this page isn’t ready yet.', 'It reloads in a few seconds.'],
  action: '<a href="/">Go to Homepage</a>',
  refresh: 10,
});

/** Sent with 410 for addresses that the publisher's redirects mark as gone. */
export const goneForGoodPage: string = page({
  title: 'Gone',
  heading: 'This page has been removed',
  lines: ['It’s no longer available.'],
  action: '<a href="/">Go to Homepage</a>',
});

/** Sent with 500 when the site's own error page could not be rendered (spec section 2, "Layout rules"). */
export const brokenPage: string = page({
  title: 'Error',
  heading: "We're inspecting the presses and will be back soon!",
  lines: [],
  action: '<a href="/">Go to Homepage</a>',
});
