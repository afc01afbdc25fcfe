/** Articles in the overlay: results, and suggestions where there are none. */
import type { CardsAnswer } from '../../lib/cards/wire.ts';
import { longDayInZone } from '../../lib/day-in-zone.ts';
import { liveWord } from '../../lib/live/schema.ts';
import { searchPage } from '../../lib/search/client.ts';
import { searchMessages } from '../../lib/search/messages.ts';
import type { SearchAnswer } from '../../lib/search/model.ts';
import styles from './SearchOverlay.module.css';

/** Before the headline of a story that is covered live. */
const Live = () => <span className={`label ${styles.live}`}>{liveWord} </span>;

/** @param stale whether the results belong to an earlier query */
export function Hits({ answer, stale }: { answer: SearchAnswer; stale: boolean }) {
  return (
    <div className={stale ? styles.stale : undefined}>
      <ul className={styles.hits}>
        {answer.hits.map((hit) => (
          <li key={hit.post_id} className={styles.hit}>
            <div className={styles.text}>
              {hit.section && <span className={`label ${styles.kicker}`}>{hit.section.label}</span>}
              <h3 className={styles.title}>
                {hit.live && <Live />}
                <a href={hit.url} data-result>
                  {hit.post_title}
                </a>
              </h3>
              <p className={styles.snippet}>
                {hit.snippet.map(({ text, match }, index) =>
                  // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other key
                  match ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>,
                )}
              </p>
              <p className={styles.line}>
                {hit.author.post_title && <span>{hit.author.post_title}</span>}
                <time dateTime={hit.date}>{longDayInZone(hit.date)}</time>
              </p>
            </div>
            {hit.image_url && (
              <img
                className={styles.picture}
                src={hit.image_url}
                alt=""
                width="144"
                height="96"
                loading="lazy"
                decoding="async"
              />
            )}
          </li>
        ))}
      </ul>
      {answer.nbHits > answer.hits.length && (
        <p className={styles.all}>
          <a className="button button-plain" href={searchPage(answer.query)} data-result>
            {searchMessages.all(answer.nbHits)}
          </a>
        </p>
      )}
    </div>
  );
}

export function Grid({ name, cards }: { name: string; cards: CardsAnswer['articles'] }) {
  if (cards.length === 0) return null;
  return (
    <section className={styles.offer} aria-label={name}>
      <h2 className={styles.offerName}>{name}</h2>
      <ul className={styles.grid}>
        {cards.map(({ id, slug, title, image, author, section, live }) => (
          <li key={id} className={styles.card}>
            {image && <img src={image.url} alt="" width="300" height="200" loading="lazy" decoding="async" />}
            {section && <span className={`label ${styles.kicker}`}>{section.label}</span>}
            <h3 className={styles.title}>
              {live && <Live />}
              <a href={`/article/${slug}`} data-result>
                {title}
              </a>
            </h3>
            {author && <p className={styles.line}>{author.name}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
