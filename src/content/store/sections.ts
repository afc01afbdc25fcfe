/** The sections of the paper: what the publication sets up, overridden by WordPress's terms once those are known. */

import type { Section } from '../../lib/content/model.ts';
import { publication, type SectionConfig } from '../../publication.ts';
import type { IngestedSection } from '../ingest/document.ts';

const configured = (section: SectionConfig): Section => ({
  id: 0,
  slug: section.slug,
  name: section.name,
  label: section.label,
  homepageCount: section.homepageCount,
  showInMedia: section.showInMedia,
  navigationPosition: section.navigationPosition,
  color: section.color,
});

/**
 * Sections in navigation order. While WordPress has not named any, those of the publication, with id 0; afterwards
 * exactly the terms that have a navigation position.
 */
export function navigationSections(terms: readonly IngestedSection[]): Section[] {
  const named = terms.filter((term) => term.position !== null);
  const sections = named.length > 0 ? named.map(fromTerm) : publication.sections.map(configured);
  return sections.sort((a, b) => a.navigationPosition - b.navigationPosition || a.name.localeCompare(b.name, 'en'));
}

const fromTerm = (term: IngestedSection): Section => ({
  id: term.id,
  slug: term.slug,
  name: term.name,
  label: term.label,
  homepageCount: term.homepageCount,
  showInMedia: term.showInMedia,
  navigationPosition: term.position ?? 0,
  color: term.color,
});

/** What the publication says about a term's slug, for terms on which WordPress carries no fields of the newsroom. */
export const configuredSection = (slug: string): SectionConfig | undefined =>
  publication.sections.find((section) => section.slug === slug);
