/** What is on offer, at the head of the sheet: a plan with its price, the penny promotion, or a choice of two. */
import { useId } from 'react';
import type { Price } from '../../lib/billing/wire.ts';
import { perDay, rate, sum, yearlySaving } from './money.ts';
import styles from './PaywallModal.module.css';

interface Props {
  price: Price;
  choices: readonly Price[];
  locked: boolean;
  onChoose(price: Price): void;
}

export function Offer({ price, choices, locked, onChoose }: Props) {
  const name = useId();
  if (price.promotion)
    return (
      <div className={styles.penny} data-offer="penny">
        <p className={styles.coin}>{perDay(price.promotion.amount / price.promotion.days, price.currency)}</p>
        <p>{price.pennySubheading}</p>
      </div>
    );
  if (choices.length > 1)
    return (
      <fieldset className={styles.choices} data-offer="choice" disabled={locked}>
        <legend className="visually-hidden">Your subscription</legend>
        {choices.map((each) => (
          <label className={styles.choice} key={each.id}>
            <input
              type="radio"
              name={name}
              value={each.zephrPlanId}
              checked={each.id === price.id}
              onChange={() => onChoose(each)}
            />
            <span>
              <b>{each.recurring.interval === 'year' ? 'Yearly' : 'Monthly'}</b> {rate(each)}
              {yearlySaving(each, choices) > 0 && (
                <em className={styles.saving}> Save {sum(yearlySaving(each, choices), each.currency)} a year</em>
              )}
            </span>
          </label>
        ))}
      </fieldset>
    );
  return (
    <div className={styles.offer} data-offer="plan">
      <p className={styles.offerName}>{price.product.name}</p>
      <p className={styles.offerRate}>{rate(price)}</p>
      {price.print && <p className={styles.offerNote}>With the weekly print edition by mail</p>}
    </div>
  );
}
