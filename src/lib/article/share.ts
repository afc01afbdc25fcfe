/** Plain links by which a story is passed on; nothing is loaded from anywhere before one is followed. */

export interface ShareLink {
  readonly name: string;
  readonly href: string;
}

/** @param url whole address of the story; @param paper name of the newspaper */
export function shareLinks(url: string, title: string, paper: string): readonly ShareLink[] {
  const query = (parameters: Readonly<Record<string, string>>): string =>
    Object.entries(parameters)
      // Mail programs take a plus sign for a plus sign.
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
  return [
    { name: 'Email', href: `mailto:?${query({ subject: `${title} (${paper})`, body: `${title}\n\n${url}` })}` },
    { name: 'X', href: `https://x.com/intent/post?${query({ text: title, url })}` },
    { name: 'Facebook', href: `https://www.facebook.com/sharer/sharer.php?${query({ u: url })}` },
  ];
}
