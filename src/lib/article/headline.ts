/** How large a headline is set: the longer, the smaller, so that it stays a headline and never fills the window. */
export type HeadlineSize = 'large' | 'medium' | 'small';

/** Counted in characters as a reader counts them. */
export function headlineSize(title: string): HeadlineSize {
  const length = [...title].length;
  if (length <= 72) return 'large';
  return length <= 120 ? 'medium' : 'small';
}
