import type { Exchange } from '@x/schema'

/** An exchange that answers in the place of another, and has that one's members and more; where both have one, the new counts. */
export function joinMembers<E extends Exchange, M extends object>(inner: E, around: Exchange, members: M): E & M {
  const owner = (key: PropertyKey): object => (Object.hasOwn(members, key) ? members : inner)
  const joined: unknown = new Proxy(around, {
    get: (_around, key) => Reflect.get(owner(key), key),
    has: (_around, key) => Reflect.has(owner(key), key),
  })
  // It answers as an exchange does, and whatever else is looked up is a member of the one or the other.
  return joined as E & M
}
