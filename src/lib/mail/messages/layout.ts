/** The design of all messages: HTML that Outlook 2016 can render, and plain text. */
import type { Publisher, Sender } from '../model.ts';

/** A message without design, as plain text. */
export interface MailContent {
  readonly subject: string;
  /** What a mailbox shows next to the subject. */
  readonly preview: string;
  readonly heading: string;
  readonly opening: readonly string[];
  /** At most one of `code` and `button`. */
  readonly code?: string;
  readonly button?: { readonly label: string; readonly url: string };
  readonly closing: readonly string[];
  /** Why the reader gets this message; in small print. */
  readonly reason: string;
}

export interface Rendered {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  /** Address for replies, if not the usual one. */
  readonly replyTo?: Sender;
  /** Headers that are added to the usual ones or replace them. Values are ASCII, one line. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Renders a message as HTML and plain text. */
export function layOut(mail: MailContent, paper: Publisher): Rendered {
  return { subject: mail.subject, html: asHtml(mail, paper), text: asText(mail, paper) };
}

function asHtml(mail: MailContent, paper: Publisher): string {
  const paragraphs = (texts: readonly string[]): Markup[] => texts.map((text) => html`<p class="text">${text}</p>`);
  return frame(
    { paper, title: mail.subject, preview: mail.preview, reason: html`${mail.reason}` },
    html`<h1 class="heading">${mail.heading}</h1>
${paragraphs(mail.opening)}
${mail.code === undefined ? [] : codeBox(mail.code)}
${mail.button ? button(mail.button.label, mail.button.url) : []}
${paragraphs(mail.closing)}`,
  );
}

function asText(mail: MailContent, paper: Publisher): string {
  return plainText([
    paper.name,
    mail.heading,
    ...mail.opening,
    ...(mail.code === undefined ? [] : [`    ${mail.code}`]),
    ...(mail.button ? [`${mail.button.label}:\n${mail.button.url}`] : []),
    ...mail.closing,
    `-- \n${mail.reason}\n${imprint(paper)}`,
  ]);
}

/** The paragraphs of a plain text, in lines of at most 72 characters. */
export const plainText = (paragraphs: readonly string[]): string =>
  `${paragraphs.map((paragraph) => paragraph.split('\n').map(wrap).join('\n')).join('\n\n')}\n`;

/** The last line of a plain text. */
export const imprint = ({ name, siteUrl, contact }: Publisher): string => `${name} · ${siteUrl} · ${contact}`;

/** The site's host, as texts name it. */
export const hostOf = ({ siteUrl }: Publisher): string => new URL(siteUrl).host;

/** Breaks a line at 72 characters; an address is never broken. */
function wrap(line: string): string {
  if (line.length <= 72 || line.startsWith(' ')) return line;
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > 72) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current].join('\n');
}

/** `about a minute`, `10 minutes`. */
export const minutesInWords = (minutes: number): string =>
  minutes <= 1 ? 'about a minute' : `${Math.floor(minutes)} minutes`;

/** Escaped HTML; only {@link html} creates it. */
export interface Markup {
  readonly markup: string;
}

type Part = string | Markup | readonly Markup[];

/** A template that escapes its strings. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: pieces.reduce((sum, piece, place) => sum + markupOf(parts[place - 1] ?? '') + piece) };
}

function markupOf(part: Part): string {
  if (typeof part === 'string') return escaped(part);
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('\n');
}

const escaped = (text: string): string => text.replace(/[&<>"']/gu, (sign) => `&#${sign.charCodeAt(0)};`);

/** Colors of src/styles/tokens.css, light and dark. Text has a contrast of at least 4.5:1. */
const light = {
  ground: '#f2ecdc',
  sheet: '#fffefa',
  ink: '#16140f',
  soft: '#5b574d',
  rule: '#d9d4c6',
  gold: '#8a5600',
};
const dark = { ground: '#0f0d09', sheet: '#1c1913', ink: '#f4f0e4', soft: '#b9b2a1', rule: '#3f392c', gold: '#f3b73c' };

const serif = "Georgia,'Times New Roman',Times,serif";
const sans = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Styles by class, inlined into the elements; the dark style sheet uses the same classes. */
const styles: Readonly<Record<string, string>> = {
  ground: `margin:0;padding:0;background-color:${light.ground}`,
  sheet: `width:100%;max-width:600px;background-color:${light.sheet};border-top:4px solid ${light.ink}`,
  masthead: `padding:26px 32px 16px;text-align:center;border-bottom:3px double ${light.ink}`,
  name: `margin:0;font-family:${serif};font-size:40px;line-height:44px;font-weight:bold;letter-spacing:-0.5px;color:${light.ink};text-decoration:none`,
  motto: `margin:6px 0 0;font-family:${serif};font-size:14px;line-height:20px;font-style:italic;color:${light.soft}`,
  // A word that is longer than a phone's line would make the whole message wider. Some programs know only one of the two.
  body: 'padding:32px 32px 16px;word-break:break-word;overflow-wrap:anywhere',
  heading: `margin:0 0 16px;font-family:${serif};font-size:26px;line-height:32px;font-weight:bold;color:${light.ink}`,
  text: `margin:0 0 16px;font-family:${serif};font-size:17px;line-height:27px;color:${light.ink}`,
  box: `padding:20px 12px;text-align:center;background-color:${light.ground};border:1px solid ${light.rule}`,
  code: `font-family:Menlo,Consolas,'Courier New',monospace;font-size:38px;line-height:44px;font-weight:bold;letter-spacing:9px;color:${light.ink};padding-left:9px`,
  button: `background-color:${light.ink};border-radius:3px;text-align:center`,
  label: `display:inline-block;padding:15px 30px;font-family:${sans};font-size:17px;line-height:22px;font-weight:bold;color:${light.sheet};text-decoration:none;border-radius:3px`,
  hint: `margin:0 0 16px;font-family:${sans};font-size:14px;line-height:21px;color:${light.soft}`,
  address: `color:${light.gold};text-decoration:underline;word-break:break-all`,
  link: `color:${light.gold};text-decoration:underline`,
  foot: `padding:18px 32px 30px;border-top:1px solid ${light.rule}`,
  kicker: `margin:0 0 4px;font-family:${sans};font-size:12px;line-height:18px;font-weight:bold;letter-spacing:0.7px;text-transform:uppercase;color:${light.gold}`,
  lead: `font-family:${serif};font-size:30px;line-height:35px;font-weight:bold;letter-spacing:-0.3px;color:${light.ink};text-decoration:none`,
  story: `font-family:${serif};font-size:20px;line-height:25px;font-weight:bold;color:${light.ink};text-decoration:none`,
  standfirst: `margin:6px 0 0;font-family:${serif};font-size:16px;line-height:24px;color:${light.ink}`,
  byline: `margin:6px 0 0;font-family:${sans};font-size:13px;line-height:19px;color:${light.soft}`,
  rule: `padding:20px 0;border-top:1px solid ${light.rule}`,
  dateline: `margin:0 0 20px;font-family:${sans};font-size:14px;line-height:21px;color:${light.soft}`,
  small: `margin:0 0 8px;font-family:${sans};font-size:13px;line-height:20px;color:${light.soft}`,
};

/** Inlines the styles of each class. */
const inlined = (markup: string): string =>
  markup.replace(/ class="([a-z]+)"/gu, (whole, name: string) =>
    styles[name] ? `${whole} style="${styles[name]}"` : whole,
  );

const darkRules = [
  `.ground{background-color:${dark.ground}!important}`,
  `.sheet{background-color:${dark.sheet}!important;border-color:${dark.gold}!important}`,
  `.masthead{border-color:${dark.ink}!important}.foot{border-color:${dark.rule}!important}`,
  `.box{background-color:${dark.ground}!important;border-color:${dark.rule}!important}`,
  `.name,.heading,.text,.code,.lead,.story,.standfirst{color:${dark.ink}!important}`,
  `.motto,.hint,.small,.byline,.dateline{color:${dark.soft}!important}`,
  `.button{background-color:${dark.gold}!important}.label{color:${dark.ground}!important}`,
  `.rule{border-color:${dark.rule}!important}`,
  `.address,.link,.kicker{color:${dark.gold}!important}`,
];

const styleSheet = `:root{color-scheme:light dark;supported-color-schemes:light dark}
a{text-decoration:underline}
@media (max-width:479px){.masthead,.foot{padding-left:20px!important;padding-right:20px!important}.body{padding:26px 20px 12px!important}.heading{font-size:24px!important;line-height:30px!important}.lead{font-size:26px!important;line-height:31px!important}.code{font-size:34px!important;letter-spacing:7px!important;padding-left:7px!important}.wide{width:100%!important}.label{display:block!important}}
@media (prefers-color-scheme:dark){${darkRules.join('')}}
${darkRules.map((rule) => rule.replace(/(^|[},])\./gu, '$1[data-ogsc] .')).join('')}`;

/** The whole message around its body. */
export function frame(
  { paper, title, preview, reason }: { paper: Publisher; title: string; preview: string; reason: Markup },
  body: Markup,
): string {
  // Invisible padding after a short preview: without it, a mailbox would show the start of the message as well.
  const filling = '&#847;&zwnj;&nbsp;'.repeat(60);
  const content = html`<body class="ground">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">${preview}${{ markup: filling }}</div>
<table class="ground" role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center" style="padding:24px 8px">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table class="sheet" role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr><td class="masthead"><a class="name" href="${paper.siteUrl}/">${paper.name}</a><p class="motto">${paper.motto}</p></td></tr>
<tr><td class="body">
${body}
</td></tr>
<tr><td class="foot"><p class="small">${reason}</p><p class="small">${paper.name} · <a class="link" href="${paper.siteUrl}/">${hostOf(paper)}</a></p><p class="small"><a class="link" href="mailto:${paper.contact}">${paper.contact}</a></p></td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</body>`;
  return `<!doctype html>
<html lang="${escaped(paper.language)}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">
<meta name="x-apple-disable-message-reformatting">
<title>${escaped(title)}</title>
<style>${styleSheet}</style>
</head>
${inlined(content.markup)}
</html>
`;
}

/** A button, and its address as text for programs that show no buttons. */
const button = (
  label: string,
  url: string,
): Markup => html`<table class="wide" role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 24px"><tr><td class="button"><a class="label" href="${url}">${label}</a></td></tr></table>
<p class="hint">If the button doesn’t work, copy this address into your browser:<br><a class="address" href="${url}">${url}</a></p>`;

/** The code in large digits; read aloud one by one, copied without spaces. */
const codeBox = (code: string): Markup =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 24px"><tr><td class="box"><span class="code" role="img" aria-label="${[...code].join(' ')}">${code}</span></td></tr></table>`;
