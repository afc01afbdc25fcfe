/** A newsletter: the stories of a day, and an unsubscribe link that takes one click (RFC 8058). */
import type { Message, NewsletterStory, Publisher } from '../model.ts';
import { frame, html, type Markup, type Rendered, wrap } from './layout.ts';

type NewsletterMessage = Extract<Message, { kind: 'newsletter' }>;

/** @throws Error when its unsubscribe link isn't a web address, or it has no story */
export function renderNewsletter(message: NewsletterMessage, paper: Publisher): Rendered {
  const { letter, slug, stories, unsubscribe } = message;
  const [lead, ...others] = stories;
  if (!lead) throw new Error('The newsletter has no story.');
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(unsubscribe))
    throw new Error("The newsletter's unsubscribe link is not a web address.");
  const host = new URL(paper.siteUrl).host;
  return {
    subject: `${letter}: ${lead.title}`,
    html: asHtml(message, lead, others, paper, host),
    text: asText(message, paper, host),
    headers: {
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-Id': `<${slug.replace(/[^a-z0-9-]/gu, '')}.${host.replace(/:\d+$/u, '')}>`,
      Precedence: 'bulk',
    },
  };
}

const choices = (paper: Publisher): string => `${paper.siteUrl}/dashboard/newsletters`;

function asHtml(
  { letter, day, unsubscribe }: NewsletterMessage,
  lead: NewsletterStory,
  others: readonly NewsletterStory[],
  paper: Publisher,
  host: string,
): string {
  const reason = html`You’re receiving this email because you signed up for ${letter} at ${host}.<br><a class="away" href="${unsubscribe}">Unsubscribe from ${letter}</a> · <a class="away" href="${choices(paper)}">Manage your newsletters</a>`;
  const preview = lead.standfirst || others[0]?.title || letter;
  return frame(
    { paper, title: `${letter}: ${lead.title}`, preview, reason },
    html`<h1 class="heading">${letter}</h1>
<p class="dateline">${day}</p>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
${[row(lead, 'lead', paper), ...others.map((story) => row(story, 'story', paper))]}
</table>`,
  );
}

const row = (story: NewsletterStory, size: 'lead' | 'story', paper: Publisher): Markup =>
  html`<tr><td class="rule">${story.kicker ? html`<p class="kicker">${story.kicker}</p>` : []}<h2 style="margin:0"><a class="${size}" href="${paper.siteUrl}${story.path}">${story.title}</a></h2>${story.standfirst ? html`<p class="standfirst">${story.standfirst}</p>` : []}<p class="byline">${small(story)}</p></td></tr>`;

const small = ({ byline, minutes }: NewsletterStory): string =>
  [...(byline ? [`By ${byline}`] : []), `${minutes} min read`].join(' · ');

function asText({ letter, day, stories, unsubscribe }: NewsletterMessage, paper: Publisher, host: string): string {
  const parts = [
    `${paper.name}\n${letter} · ${day}`,
    ...stories.map((story) =>
      [
        ...(story.kicker ? [story.kicker.toUpperCase()] : []),
        story.title,
        ...(story.standfirst ? [story.standfirst] : []),
        small(story),
        `${paper.siteUrl}${story.path}`,
      ].join('\n'),
    ),
    [
      `-- \nYou’re receiving this email because you signed up for ${letter} at ${host}.`,
      `Unsubscribe: ${unsubscribe}`,
      `Manage your newsletters: ${choices(paper)}`,
      `${paper.name} · ${paper.siteUrl} · ${paper.contact}`,
    ].join('\n'),
  ];
  return `${parts.map((part) => part.split('\n').map(wrap).join('\n')).join('\n\n')}\n`;
}
