/** The people who have accounts with Google and Facebook in the sandbox. Mail to their addresses arrives in the mailbox. */

export interface Person {
  /** Digits, as in both providers' ids. */
  readonly id: string;
  readonly name: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly email: string;
}

const person = (id: string, givenName: string, familyName: string, domain = 'example.com'): Person => ({
  id,
  name: `${givenName} ${familyName}`,
  givenName,
  familyName,
  email: `${givenName}.${familyName}@${domain}`.toLowerCase(),
});

export const people: readonly Person[] = [
  person('104208150971600000001', 'Ada', 'Whitlock'),
  person('104208150971600000002', 'Benjamin', 'Day'),
  person('104208150971600000003', 'Chiara', 'Montefiore'),
  // Google doesn't host this domain, so its word doesn't prove who owns the address now.
  person('104208150971600000004', 'Dora', 'Fenn', 'example.net'),
];

/** The person with this address; a new one gets an id that depends only on the address. */
export function personOf(email: string): Person {
  const address = email.trim().toLowerCase();
  const known = people.find((one) => one.email === address);
  if (known) return known;
  let number = 7n;
  for (const character of address) number = (number * 131n + BigInt(character.codePointAt(0) ?? 0)) % 10n ** 18n;
  const [first = 'Reader', ...rest] = (address.split('@')[0] ?? '')
    .split(/[._+-]+/)
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1));
  const familyName = rest.join(' ') || 'Reader';
  return {
    id: `105${String(number).padStart(18, '0')}`,
    name: `${first} ${familyName}`,
    givenName: first,
    familyName,
    email: address,
  };
}
