export const kib = 1024
export const mib = 1024 * kib

/** Returns the text of `count` members, elements or lines. */
export const many = (count: number, textOf: (index: number) => string, separator = ','): string =>
  Array.from({ length: Math.floor(count) }, (_, index) => textOf(index)).join(separator)

/** Returns a text repeated up to a size. */
export const fill = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length)).slice(0, size)
