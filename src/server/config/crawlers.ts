/** Settings of the crawlers that may read what is behind the wall. */
import { z } from 'zod';
import { type CrawlerName, type CrawlersConfig, crawlerNames } from '../http/crawlers.ts';
import { webAddress } from './fields.ts';

const isName = (text: string): text is CrawlerName => crawlerNames.some((name) => name === text);
const parts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const crawlerFields = {
  CRAWLERS: z
    .string()
    .default('')
    .transform((text, context) => {
      const names = parts(text.toLowerCase());
      for (const name of names.filter((each) => !isName(each)))
        context.addIssue(`holds ${JSON.stringify(name)}; give ${crawlerNames.join(', ')}, or leave it out`);
      return [...new Set(names.filter(isName))];
    }),
  CRAWLER_RANGES: z
    .string()
    .default('')
    .transform((text, context) => {
      const ranges: Partial<Record<CrawlerName, string>> = {};
      for (const part of parts(text)) {
        const [, name = '', source = ''] = /^([a-z]+)=(.+)$/.exec(part) ?? [];
        const isAddress = /^[a-z]+:\/\//i.test(source);
        if (isName(name) && source !== '' && (!isAddress || webAddress(source))) ranges[name] = source;
        else
          context.addIssue(
            `holds ${JSON.stringify(part)}; give lists as name=file or name=address, such as google=https://www.example.com/googlebot.json`,
          );
      }
      return ranges;
    }),
};

type Values = z.infer<z.ZodObject<typeof crawlerFields>>;

/** @returns `null` where no crawler reads more than everybody */
export const crawlersOf = (values: Values): CrawlersConfig | null =>
  values.CRAWLERS.length === 0 ? null : { names: values.CRAWLERS, ranges: values.CRAWLER_RANGES };

/** Problems of settings that make sense only together. */
export function crawlersTogether(given: Readonly<Record<string, string>>): string[] {
  const names = parts(given.CRAWLERS?.toLowerCase() ?? '');
  return parts(given.CRAWLER_RANGES ?? '')
    .map((part) => part.split('=', 1)[0] ?? '')
    .filter((name) => isName(name) && !names.includes(name))
    .map(
      (name) =>
        `CRAWLER_RANGES holds a list for ${name}, which CRAWLERS does not name; add it there, or remove the list`,
    );
}
