import { describe, expect, test } from 'vitest';
import type { Article, Video } from '../content/model.ts';
import { documentTitle, pageDescription, socialTags } from './meta.ts';
import {
  articleTrail,
  breadcrumbs,
  jsonLdText,
  newsArticle,
  newsMediaOrganization,
  podcastEpisode,
  profilePage,
  videoObject,
} from './structured-data.ts';

const site = 'https://paper.example';
const section = {
  id: 4,
  slug: 'politics',
  name: 'Politics',
  label: 'Politics',
  homepageCount: 5,
  showInMedia: false,
  navigationPosition: 4,
  color: 'default' as const,
};
const article: Article = {
  id: 1,
  slug: 'a-story',
  title: 'A Story',
  excerpt: 'Its standfirst.',
  image: { url: 'https://wp.example/a.jpg', alt: 'A', width: 1600, height: 900, caption: '', credit: '' },
  byline: {
    authors: [{ id: 2, name: 'Clara', slug: 'clara', excerpt: '', image: null }],
    contributors: [],
    agency: null,
  },
  section,
  sections: [section],
  date: '2026-11-21T12:00:00Z',
  modified: '2026-11-21T13:00:00Z',
  access: 'default',
  minutes: 2,
  bodyHtml: '<p>SECRET</p>',
  openingHtml: '<p>Open.</p>',
  words: 400,
  commentsOpen: true,
  corrections: [],
  sound: null,
  podcast: null,
  live: null,
};

describe('structured data', () => {
  test('of a free article is a NewsArticle with its dates and author', () => {
    expect(newsArticle(article, site)).toMatchObject({
      '@type': 'NewsArticle',
      headline: 'A Story',
      datePublished: '2026-11-21T07:00:00-05:00',
      dateModified: '2026-11-21T08:00:00-05:00',
      isAccessibleForFree: true,
      author: [{ '@type': 'Person', name: 'Clara', url: `${site}/author/clara` }],
    });
  });
  test('of an article with several bylines has all authors, the agency and the contributors', () => {
    const [clara] = article.byline.authors as [Article['byline']['authors'][0]];
    const byline = {
      authors: [clara, { ...clara, id: 3, name: 'Ben', slug: 'ben' }],
      contributors: [{ id: 4, name: 'Cy', slug: 'cy' }],
      agency: { name: 'Associated Press', url: 'https://ap.example/' },
    };
    const data = newsArticle({ ...article, byline }, site);
    expect(data.author).toEqual([
      { '@type': 'Person', name: 'Clara', url: `${site}/author/clara` },
      { '@type': 'Person', name: 'Ben', url: `${site}/author/ben` },
      { '@type': 'Organization', name: 'Associated Press', url: 'https://ap.example/' },
    ]);
    expect(data.contributor).toEqual([{ '@type': 'Person', name: 'Cy', url: `${site}/author/cy` }]);
    expect(newsArticle(article, site)).not.toHaveProperty('contributor');
    const tags = socialTags({ title: 'A', path: '/article/a-story', article: { ...article, byline } }, site);
    expect(tags.filter(({ property }) => property === 'article:author').map(({ content }) => content)).toEqual([
      `${site}/author/clara`,
      `${site}/author/ben`,
    ]);
  });
  test('of a corrected article has the corrections as text, also when the article is restricted', () => {
    expect(newsArticle(article, site)).not.toHaveProperty('correction');
    const note = {
      kind: 'correction',
      date: '2026-11-21T14:00:00Z',
      html: 'It is <em>one</em>, <a href="/x">see</a>. &amp; not </script> two.',
    } as const;
    for (const access of ['free', 'subscriber'] as const) {
      const data = newsArticle({ ...article, access, corrections: [note] }, site);
      expect(data.correction).toEqual([
        {
          '@type': 'CorrectionComment',
          text: 'It is one, see. & not two.',
          datePublished: '2026-11-21T09:00:00-05:00',
        },
      ]);
    }
  });
  test.each(['registered', 'subscriber'] as const)(
    'of an article for %s readers marks it as restricted and contains none of its body',
    (access) => {
      const data = newsArticle({ ...article, access }, site);
      expect(data).toMatchObject({
        isAccessibleForFree: false,
        hasPart: { '@type': 'WebPageElement', isAccessibleForFree: false, cssSelector: '.restricted' },
      });
      expect(JSON.stringify(data)).not.toContain('SECRET');
    },
  );
  test('marks an opinion article, names the paper if there is no author, and omits a missing image', () => {
    const data = newsArticle(
      {
        ...article,
        sections: [{ ...section, slug: 'opinion' }],
        byline: { authors: [], contributors: [], agency: null },
        image: null,
      },
      site,
    );
    expect(data).toMatchObject({ '@type': 'OpinionNewsArticle', author: [{ '@type': 'Organization' }] });
    expect(JSON.parse(jsonLdText(data)).image).toBeUndefined();
  });
  test('has the language of an article written in another language', () => {
    expect(newsArticle(article, site).inLanguage).toBe('en-US');
    const arabic = { ...article, title: 'خبّاز ديربورن', excerpt: '', openingHtml: '<p>أربعون عامًا</p>' };
    expect(newsArticle(arabic, site).inLanguage).toBe('ar');
  });
  test('has the URL of the audio of a free story, and not of a restricted one', () => {
    const url = 'https://sound.example/episode.mp3';
    const rest = {
      title: '',
      type: 'audio/mpeg',
      bytes: 1,
      seconds: 90,
      chapters: [],
      transcript: '',
      podcastId: null,
    };
    const heard: Article = { ...article, sound: { ...rest, url } };
    expect(newsArticle(heard, site).audio).toMatchObject({ contentUrl: url, isAccessibleForFree: true });
    expect(podcastEpisode(heard, site)).toBeNull();
    const podcast = { slug: 'the-week', title: 'The Week' } as unknown as Article['podcast'];
    const episode: Article = { ...heard, podcast };
    expect(newsArticle(episode, site)).not.toHaveProperty('audio');
    expect(podcastEpisode(episode, site)).toMatchObject({
      associatedMedia: { contentUrl: url },
      partOfSeries: { name: 'The Week', url: `${site}/podcast/the-week` },
    });
    for (const paid of [heard, episode].map((each): Article => ({ ...each, access: 'subscriber' }))) {
      const all = jsonLdText([newsArticle(paid, site), podcastEpisode(paid, site) ?? {}]);
      expect(all).toContain('"isAccessibleForFree":false');
      expect(all).not.toContain('sound.example');
    }
  });
  test('has a headline of at most 110 characters, and the picture of an author', () => {
    expect(String(newsArticle({ ...article, title: 'word '.repeat(40) }, site).headline).length).toBeLessThanOrEqual(
      110,
    );
    const author = { id: 2, name: 'Clara', slug: 'clara', excerpt: '', image: article.image };
    expect(profilePage(author, site).mainEntity).toMatchObject({ image: expect.stringContaining('wp.example') });
  });
  test('of breadcrumbs starts at the home page', () => {
    expect(breadcrumbs(articleTrail(article), site).itemListElement).toMatchObject([
      { position: 1, item: `${site}/` },
      { position: 2, name: 'Politics', item: `${site}/section/politics` },
      { position: 3, item: `${site}/article/a-story` },
    ]);
  });
  test('of a video is omitted if the video has no id', () => {
    const video = {
      title: 'Film',
      excerpt: '',
      slug: 'film',
      image: null,
      date: '2026-11-21T12:00:00Z',
      video: { url: 'x', providerId: 'aqz-KE-bpKQ', provider: 'youtube' },
    } as unknown as Video;
    expect(videoObject(video, site)).toMatchObject({
      '@type': 'VideoObject',
      description: 'Film',
      thumbnailUrl: ['https://i.ytimg.com/vi/aqz-KE-bpKQ/hqdefault.jpg'],
    });
    expect(videoObject({ ...video, video: { ...video.video, providerId: null } }, site)).toBeNull();
  });
  test('escapes a title that contains </script', () => {
    const text = jsonLdText({ headline: '</script><!--\u2028' });
    expect(text).not.toMatch(/[<>\u2028]/);
    expect(JSON.parse(text).headline).toBe('</script><!--\u2028');
  });
  test('of the newspaper is a NewsMediaOrganization founded in 1833', () =>
    expect(newsMediaOrganization(site)).toMatchObject({ '@type': 'NewsMediaOrganization', foundingDate: '1833' }));
});

describe('the head of a page', () => {
  test('has the title and the newspaper’s name', () => {
    expect(documentTitle({ title: 'x', path: '/' })).toBe('The Sun: It Shines for All');
    expect(documentTitle({ title: 'A Story', path: '/article/a-story' })).toBe('A Story | The Sun');
  });
  test('has a description cut at a word to at most 155 characters', () => {
    const text = pageDescription('word '.repeat(60));
    expect(text.length).toBeLessThanOrEqual(155);
    expect(text).toMatch(/word…$/);
    expect(pageDescription('').length).toBeGreaterThan(20);
  });
  test('has an article’s picture at 1280×720, its times and its author', () => {
    const tags = socialTags(
      { title: 'A Story', path: '/article/a-story', type: 'article', image: article.image, article },
      site,
    );
    const get = (property: string) => tags.find((tag) => tag.property === property)?.content;
    expect(get('og:image')).toBe(`${site}/image?url=https%3A%2F%2Fwp.example%2Fa.jpg&crop=social`);
    expect([get('og:image:width'), get('og:image:height'), get('og:locale')]).toEqual(['1280', '720', 'en_US']);
    expect(get('article:published_time')).toBe('2026-11-21T07:00:00-05:00');
    expect(get('article:modified_time')).toBe('2026-11-21T08:00:00-05:00');
    expect([get('og:url'), get('og:image:alt')]).toEqual([`${site}/article/a-story`, 'A']);
    expect(get('article:author')).toBe(`${site}/author/clara`);
  });
  test('has the site’s own picture if the page has none', () =>
    expect(
      socialTags({ title: 'About', path: '/about' }, site).find((tag) => tag.name === 'twitter:image')?.content,
    ).toBe(`${site}/social.png`));
});
