/** The ten sections of the demo edition (spec section 3, "Category config"). */

export interface Section {
  /** Id of the WordPress term. */
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly label: string;
  /** Place in the navigation, lowest first. */
  readonly position: number;
  /** Stories that the home page shows. */
  readonly homeCount: number;
  readonly color: 'default' | 'red';
  readonly showInMedia: boolean;
}

const rows: readonly [id: number, slug: string, name: string, homeCount: number, more?: Partial<Section>][] = [
  [1, 'editorials', 'Editorials', 5, { color: 'red' }],
  [2, 'national', 'National', 6, { showInMedia: true }],
  [3, 'foreign', 'Foreign', 6, { showInMedia: true }],
  [4, 'politics', 'Politics', 5, { showInMedia: true }],
  [5, 'culture', 'Culture', 12, { label: 'Arts+', showInMedia: true }],
  [6, 'economy', 'Economy', 4, { showInMedia: true }],
  [7, 'education', 'Education', 3],
  [8, 'justice', 'Justice', 4],
  [9, 'columnists', 'Columnists', 3],
  [13, 'opinion', 'Opinion', 4, { color: 'red' }],
];

export const sections: readonly Section[] = rows.map(([id, slug, name, homeCount, more], index) => ({
  id,
  slug,
  name,
  homeCount,
  label: name,
  position: index + 1,
  color: 'default',
  showInMedia: false,
  ...more,
}));
