/** Posts that embed things from elsewhere: allowed players, unknown hosts, a social post, sound. */
import type { AwkwardPost } from '../model.ts';
import { article, body, html, paragraphs } from './build.ts';

export const embeds: readonly AwkwardPost[] = [
  article({
    slug: 'a-film-in-the-middle-of-the-page',
    title: 'The Meadow That Every Screen in the World Has Shown',
    hours: 229.45,
    author: 'augustin-moreau',
    sections: ['culture'],
    excerpt: 'Half of the screens ever tested were tested with the same rabbit. An appreciation, with the rabbit.',
    image: { motif: 'cinema', alt: 'A cinema screen with a meadow on it.' },
    contentHtml: body(
      paragraphs('If you have ever bought a television you’ve very likely seen it over the shoulder of the man who sold it to you.'),
      '<!-- wp:embed {"url":"https://www.youtube.com/watch?v=aqz-KE-bpKQ","type":"video","providerNameSlug":"youtube","responsive":true,"className":"wp-embed-aspect-16-9 wp-has-aspect-ratio"} -->\n<figure class="wp-block-embed is-type-video is-provider-youtube wp-block-embed-youtube wp-embed-aspect-16-9 wp-has-aspect-ratio"><div class="wp-block-embed__wrapper">\nhttps://www.youtube.com/watch?v=aqz-KE-bpKQ\n</div><figcaption class="wp-element-caption">“Big Buck Bunny,” an open film by the Blender Foundation.</figcaption></figure>\n<!-- /wp:embed -->',
      paragraphs('The same studio made a sadder one. Below, it stands in the form that WordPress gives an embed once it has asked YouTube for it.'),
      html(
        '<figure class="wp-block-embed is-type-video is-provider-youtube wp-embed-aspect-16-9 wp-has-aspect-ratio"><div class="wp-block-embed__wrapper"><iframe loading="lazy" title="Sintel" width="500" height="281" src="https://www.youtube.com/embed/eRsGyueVLvQ?feature=oembed" frameborder="0" allow="accelerometer; autoplay; clipboard-write; encrypted-media; gyroscope; picture-in-picture; web-share" referrerpolicy="strict-origin-when-cross-origin" allowfullscreen></iframe></div><figcaption class="wp-element-caption">“Sintel.”</figcaption></figure>',
      ),
      paragraphs('A bare frame, pasted by hand, without a protocol:'),
      html('<iframe width="560" height="315" src="//www.youtube-nocookie.com/embed/WhWc3b3KhnY?start=30"></iframe>'),
    ),
  }),
  article({
    slug: 'a-harbor-master-posts',
    title: 'A Harbor Master Who Posts in Verse Has 40,000 Followers and One Tugboat',
    hours: 241.45,
    author: 'clara-whitcombe',
    sections: ['national', 'culture'],
    excerpt: 'Her notices to mariners scan. The Coast Guard has asked her to keep the soundings in prose.',
    image: { motif: 'harbor', alt: 'A tugboat at its mooring.' },
    contentHtml: body(
      paragraphs('It began with a dredge that was late.'),
      html(
        '<blockquote class="twitter-tweet" data-dnt="true"><p lang="en" dir="ltr">The dredge is late, the channel’s thin,<br>draw more than nine, you won’t come in. <a href="https://example.com/tag/notice">#noticetomariners</a></p>&mdash; Harbor Master (@narrows_hm) <a href="https://x.com/narrows_hm/status/1000000000000000001?ref_src=embed">this spring</a></blockquote>\n<script async src="https://platform.twitter.com/widgets.js" charset="utf-8"></script>',
      ),
      paragraphs('The reply, from a barge, had one rhyme, and could not be printed.'),
      html(
        '<blockquote class="instagram-media" data-instgrm-permalink="https://www.instagram.com/p/XXXXXXXXXXX/" data-instgrm-version="14" style="background:#fff;border:0;max-width:540px;min-width:326px"><a href="https://www.instagram.com/p/XXXXXXXXXXX/" target="_blank">A photograph of the barge</a></blockquote><script async src="//www.instagram.com/embed.js"></script>',
      ),
    ),
  }),
  article({
    slug: 'frames-known-and-unknown',
    title: 'Where Does the River Rise? Two Maps Disagree',
    hours: 253.45,
    author: 'dashiell-okafor',
    sections: ['economy', 'national'],
    excerpt: 'A chart from a company that the paper works with, and another from one of which it has not heard.',
    image: { motif: 'globe', alt: 'A globe marked with two rivers.' },
    contentHtml: body(
      paragraphs('The first map is the surveyors’.'),
      html('<iframe title="Spring sources, by county" aria-label="Map" src="https://datawrapper.dwcdn.net/aBcDe/3/" scrolling="no" frameborder="0" style="width:0;min-width:100%!important;border:none" height="417" data-external="1"></iframe><script type="text/javascript">window.addEventListener("message",function(e){})</script>'),
      paragraphs('The second was sent in by a reader, and comes from who knows where.'),
      html('<iframe src="https://widgets.example.net/tide-table?river=3" width="600" height="400" title="Tide table"></iframe>'),
      paragraphs('A talk on the subject, for the train:'),
      html('<iframe style="border-radius:12px" src="https://open.spotify.com/embed/episode/0000000000000000000000?utm_source=generator" width="100%" height="152" allow="encrypted-media" loading="lazy"></iframe>'),
      html('<iframe src="https://player.vimeo.com/video/1084537" width="640" height="360" allowfullscreen></iframe>'),
    ),
  }),
  article({
    slug: 'the-sound-of-a-bell-buoy',
    title: 'The Sound of a Bell Buoy, Which You May Play if You Like',
    hours: 266.45,
    author: 'samir-delacroix',
    sections: ['culture'],
    excerpt: 'Thirty seconds off the coast of Maine, recorded from a rowboat, with oars.',
    image: { motif: 'storm-sea', alt: 'A bell buoy leaning in a swell.' },
    contentHtml: body(
      paragraphs('It has four clappers and no tune. That’s the whole of the appeal.'),
      '<!-- wp:audio -->\n<figure class="wp-block-audio"><audio controls preload="none" src="https://audio.example.com/bell-buoy.mp3"></audio><figcaption class="wp-element-caption">The buoy at Halfway Rock.</figcaption></figure>\n<!-- /wp:audio -->',
      '<!-- wp:video -->\n<figure class="wp-block-video"><video controls preload="none" src="https://video.example.com/bell-buoy.mp4"></video></figure>\n<!-- /wp:video -->',
      '<!-- wp:file {"href":"https://example.com/buoys.pdf"} -->\n<div class="wp-block-file"><a href="https://example.com/buoys.pdf">A list of the bell buoys of Maine</a><a href="https://example.com/buoys.pdf" class="wp-block-file__button wp-element-button" download>Download</a></div>\n<!-- /wp:file -->',
      '<!-- wp:buttons -->\n<div class="wp-block-buttons"><!-- wp:button --><div class="wp-block-button"><a class="wp-block-button__link wp-element-button" href="https://example.com/oars">On oars</a></div><!-- /wp:button --></div>\n<!-- /wp:buttons -->',
    ),
  }),
];
