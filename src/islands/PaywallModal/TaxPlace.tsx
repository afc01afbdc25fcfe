/** Where a buyer lives, as far as tax depends on it: asked for before the sum can be said. */
import { type FocusEvent, useEffect, useId, useState } from 'react';
import { countries, needsPostalCode } from '../../lib/billing/countries.ts';
import type { TaxAddress } from '../../lib/billing/wire.ts';
import styles from './PaywallModal.module.css';

interface Props {
  known: TaxAddress | null;
  /** Where the reader seems to be; `null`: not known. */
  country: string | null;
  locked: boolean;
  onPlace(place: TaxAddress): void;
}

export function TaxPlace({ known, country: near, locked, onPlace }: Props) {
  const id = useId();
  const [all] = useState(countries);
  const [country, setCountry] = useState(known?.country ?? near ?? 'US');
  const [code, setCode] = useState(known?.postal_code ?? '');
  const needed = needsPostalCode(country);

  function tell(place: { country: string; code: string }) {
    const postal = place.code.trim();
    if (needsPostalCode(place.country) && postal === '') return;
    if (place.country === known?.country && postal === (known.postal_code ?? '')) return;
    onPlace(postal === '' ? { country: place.country } : { country: place.country, postal_code: postal });
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the fields appear
  useEffect(() => {
    // Where tax is the same all over a country, the country is all there is to ask.
    if (!known && near) tell({ country: near, code: '' });
  }, []);
  // A wallet may have said it.
  useEffect(() => {
    if (!known) return;
    setCountry(known.country);
    setCode(known.postal_code ?? '');
  }, [known]);
  // Told when both fields are left, so that no sum is asked for with half of an address.
  const left = ({ currentTarget, relatedTarget }: FocusEvent<HTMLFieldSetElement>) => {
    if (!currentTarget.contains(relatedTarget)) tell({ country, code });
  };

  return (
    <fieldset className={styles.place} disabled={locked} onBlur={left}>
      <legend>Where you live</legend>
      <p className={styles.hint}>Sales tax depends on it.</p>
      <label htmlFor={`${id}-country`}>Country</label>
      <select
        className="field"
        id={`${id}-country`}
        autoComplete="billing country"
        value={country}
        onChange={({ target }) => {
          setCountry(target.value);
          if (!needsPostalCode(target.value)) tell({ country: target.value, code });
        }}
      >
        {all.map((each) => (
          <option key={each.code} value={each.code}>
            {each.name}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}-code`}>{country === 'US' ? 'ZIP code' : 'Postal code'}</label>
      <input
        className="field"
        id={`${id}-code`}
        autoComplete="billing postal-code"
        maxLength={20}
        required={needed}
        value={code}
        onChange={({ target }) => {
          setCode(target.value);
          if (country === 'US' && /^\d{5}$/.test(target.value.trim())) tell({ country, code: target.value });
        }}
      />
    </fieldset>
  );
}
