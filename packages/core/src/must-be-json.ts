import type { JsonValue } from './json.ts'

/** What JSON can represent and contains no other values. */
export type JsonLeaf = string | number | boolean | null

/**
 * Rejects types whose values JSON cannot write as they are. Intersect it with a parameter's own type, as in
 * `value: T & MustBeJson<T>`. Unlike `T extends JsonValue`, it accepts interfaces, although they have no index
 * signature. The compiler's error names the member: `it.list[].at: Date (write toISOString())`.
 */
export type MustBeJson<T> = [T] extends [JsonValue | void]
  ? unknown
  : [NotJson<T>] extends [never]
    ? unknown
    : { readonly 'is not JSON': NotJson<T> }

/**
 * Members of a type that JSON cannot write, each with its path and advice; `never` if there are none. Members more than
 * six levels deep are checked only at run time.
 */
export type NotJson<T, Path extends string = 'it', Depth extends readonly 0[] = []> = Depth['length'] extends 6
  ? never
  : 0 extends 1 & T
    ? never
    : unknown extends T
      ? `${Path}: unknown (parse it with a schema first)`
      : T extends JsonLeaf | undefined | void
        ? never
        : T extends object
          ? NotJsonObject<T, Path, Depth>
          : T extends bigint
            ? `${Path}: bigint (write it as a string)`
            : `${Path}: symbol`

/** {@link NotJson} for objects. */
export type NotJsonObject<T extends object, Path extends string, Depth extends readonly 0[]> = T extends (
  ...args: never
) => unknown
  ? `${Path}: function`
  : T extends Date
    ? `${Path}: Date (write toISOString())`
    : T extends ReadonlyMap<infer _, unknown>
      ? `${Path}: Map (write Object.fromEntries(map))`
      : T extends ReadonlySet<unknown>
        ? `${Path}: Set (write [...set])`
        : T extends PromiseLike<unknown>
          ? `${Path}: promise (await it)`
          : T extends ArrayBuffer | ArrayBufferView
            ? `${Path}: bytes (write them in Base64)`
            : T extends readonly (infer Item)[]
              ? NotJsonItem<Item, Path, Depth>
              : { [K in keyof T]-?: NotJson<T[K], MemberPath<Path, K>, [...Depth, 0]> }[keyof T]

/**
 * {@link NotJson} for the items of a list. JSON omits undefined members of objects, but cannot omit an undefined item.
 */
export type NotJsonItem<Item, Path extends string, Depth extends readonly 0[]> =
  | (0 extends 1 & Item
      ? never
      : unknown extends Item
        ? never
        : Item extends undefined
          ? `${Path}[]: undefined (write null)`
          : never)
  | NotJson<Item, `${Path}[]`, [...Depth, 0]>

/** Path of an object's member. */
export type MemberPath<Path extends string, Key> = string extends Key
  ? `${Path}[key]`
  : Key extends string | number
    ? `${Path}.${Key}`
    : Path
