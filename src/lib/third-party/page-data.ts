/** What a page says to the scripts of third parties' adapters: a block of data in its head, the same for every reader. */
import type { PageFacts } from './page-facts.ts';
import type { ThirdParties } from './settings.ts';

export const pageDataId = 'third-parties';

export interface PageData {
  readonly settings: ThirdParties;
  readonly page: PageFacts;
}

/** `null` where nothing is set up. */
export function readPageData(): PageData | null {
  const text = document.getElementById(pageDataId)?.textContent;
  return text ? (JSON.parse(text) as PageData) : null;
}

/** The settings as pages carry them: without what the policy alone needs. */
export const dataFor = (settings: ThirdParties, page: PageFacts): PageData => ({
  settings: { ...settings, tagManager: settings.tagManager && { ...settings.tagManager, hosts: [] } },
  page,
});
