import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DefinitionError } from '@x/exchange'
import { expandUriTemplate, matchUriTemplate, maxUriLength, parseUriTemplate } from './uri-template.ts'

const match = (template: string, uri: string) => matchUriTemplate(parseUriTemplate(template), uri)

describe('matching', () => {
  test.each([
    ['test://template/{id}/data', 'test://template/123/data', { id: '123' }],
    ['file:///{+path}', 'file:///a/b/c.txt', { path: 'a/b/c.txt' }],
    ['wiki://{space}/{+page}', 'wiki://home/a/b', { space: 'home', page: 'a/b' }],
    ['git://{+folder}/{name}', 'git://a/b/c', { folder: 'a/b', name: 'c' }],
    ['x:{a}-{b}', 'x:1-2-3', { a: '1-2', b: '3' }],
    ['x:{+path}.{extension}', 'x:a/b.tar.gz', { path: 'a/b.tar', extension: 'gz' }],
    ['x:{a}/{b}/{c}', 'x:1/2/3', { a: '1', b: '2', c: '3' }],
    ['x:{a}bb{c}', 'x:abbbc', { a: 'ab', c: 'c' }],
    ['x:{a}?q={q}', 'x:1?q=2', { a: '1', q: '2' }],
    ['x:{name}', 'x:%C3%A9%20b', { name: 'é b' }],
    ['x:{name}', 'x:日本', { name: '日本' }],
    ['x:{name}', 'x:a..b', { name: 'a..b' }],
    ['x:{__proto__}', 'x:1', JSON.parse('{"__proto__":"1"}')],
  ])('%s takes %s apart', (template, uri, variables) => {
    expect(match(template, uri)).toEqual(variables)
  })

  test.each([
    ['x:{a}', 'x:', 'nothing where a value should be'],
    ['x:{a}/b', 'x:/b', 'nothing where a value should be'],
    ['x:{a}', 'x:1/2', 'a slash in a variable that has none'],
    ['x:{a}/{b}', 'x:1/2/3', 'a slash too many'],
    ['x:{a}/b', 'x:1/c', 'another literal'],
    ['x:{a}', 'y:1', 'another scheme'],
    ['aa:{a}aa', 'aa:aa', 'literals that would overlap'],
    ['x:{a}', 'x:%', 'half an escape'],
    ['x:{a}', 'x:%zz', 'an escape that is none'],
    ['x:{a}', 'x:%C3', 'an escape that is not UTF-8'],
    ['x:{a}', 'x:%2F', 'an escaped slash'],
    ['x:{a}', 'x:a%2fb', 'an escaped slash inside'],
    ['x:{a}', 'x:a%5Cb', 'an escaped backslash'],
    ['x:{a}', 'x:..', 'the folder above'],
    ['x:{a}', 'x:%2e%2E', 'the folder above, escaped'],
    ['x:{a}', 'x:.', 'the same folder'],
    ['x:{+a}', 'x:a/../b', 'the folder above inside'],
    ['x:{+a}', 'x:..%5Cb', 'the folder above, the Windows way'],
    ['x:{+a}', 'x:a/%2e%2e', 'the folder above, at the end'],
    ['file:///data/{+path}', 'file:///data//etc/passwd', 'a slash at the beginning'],
    ['file:///data/{+path}', 'file:///data/%2Fetc/passwd', 'an escaped slash at the beginning'],
    ['file:///data/{+path}', 'file:///data/%252Fetc/passwd', 'a slash that is escaped twice'],
    ['file:///data/{+path}', 'file:///data/%5C%5Cserver%5Cshare', 'the name of a share'],
    ['file:///data/{+path}', 'file:///data/%EF%BC%8Fetc/passwd', 'a full-width slash at the beginning'],
    ['file:///data/{+path}', 'file:///data/C:/Windows', 'a drive letter'],
    ['file:///data/{+path}', 'file:///data/c%3A%5CWindows', 'an escaped drive letter'],
    ['file:///data/{name}', 'file:///data/C%253A', 'a drive letter that is escaped twice'],
    ['x:{+a}', 'x:a/%252e%252E/b', 'the folder above, escaped twice'],
    ['x:{+a}', 'x:a/%25252e%25252e', 'the folder above, escaped three times'],
    ['x:{+a}', 'x:%252e%252e%252fb', 'the folder above, with its slash escaped twice'],
    ['x:{+a}', 'x:a/%C0%AE%C0%AE/b', 'the folder above, in UTF-8 that is too long'],
    ['x:{+a}', 'x:a/%EF%BC%8E%EF%BC%8E/b', 'the folder above, in full-width dots'],
    ['x:{+a}', 'x:a/%E2%80%A5/b', 'the folder above, as one character of two dots'],
    ['x:{+a}', 'x:a/..%20/b', 'the folder above, before a space that Windows ignores'],
    ['x:{+a}', 'x:a%00b', 'a zero character'],
    ['x:{a}', 'x:a%0Ab', 'a line feed'],
    ['x:{a}', `x:${'1'.repeat(maxUriLength)}`, 'more characters than any URI may have'],
  ])('%s does not match %s, which has %s', (template, uri) => {
    expect(match(template, uri)).toBeUndefined()
  })

  test('a URI of the greatest length matches', () => {
    expect(match('x:{a}', `x:${'1'.repeat(maxUriLength - 2)}`)).toEqual({ a: '1'.repeat(maxUriLength - 2) })
  })
})

// CVE-2026-0621: a template that became a regular expression ran for ever on such inputs. The count of steps is what is
// bounded: how often the text is looked at, not how long it took.
describe('hostile input', () => {
  const hostile = [',', '/', '-', 'a', '%2C', '-a', '//', '..'].map((part) =>
    part.repeat(Math.ceil(100_000 / part.length)),
  )
  const templates = [
    'x:{a}',
    'x:{+a}',
    'x:{a}-{b}-{c}-{d}-{e}-{f}-{g}-{h}',
    'x:{+a}-{+b}-{+c}-{+d}!',
    'x:{+a}/{b}/{+c}/{d}',
    'x:{a}aa{+b}aa{c}aa',
  ]

  test.each(templates)('%s looks at no URI of 100 KB', (template) => {
    const parsed = parseUriTemplate(template)
    for (const text of hostile) {
      const uri = { length: text.length + 2, slice: refuse, startsWith: refuse, endsWith: refuse }
      expect(matchUriTemplate(parsed, uri as unknown as string)).toBeUndefined()
      expect(matchUriTemplate(parsed, `x:${text}`)).toBeUndefined()
    }
  })

  test.each(templates)('%s looks at each character of the longest URI a few times at most', (template) => {
    const parsed = parseUriTemplate(template)
    for (const text of hostile) {
      const middle = counting(text.slice(0, maxUriLength - 10))
      matchUriTemplate(parsed, {
        length: middle.length,
        startsWith: () => true,
        endsWith: () => true,
        slice: () => middle,
      } as unknown as string)
      expect(middle.looks()).toBeLessThanOrEqual(2 * parsed.variables.length * maxUriLength)
    }
  })
})

function valuesOf([, a, b, c, d]: RegExpExecArray): object {
  return { a, b, c, d }
}

function refuse(): never {
  throw new Error('this URI is too long to be looked at')
}

/** Text that counts how often one of its places is looked at. */
function counting(text: string) {
  let looks = 0
  return {
    length: text.length,
    looks: () => looks,
    charCodeAt: (index: number) => (looks++, text.charCodeAt(index)),
    startsWith: (part: string, index: number) => (looks++, text.startsWith(part, index)),
    lastIndexOf: (part: string) => ((looks += text.length), text.lastIndexOf(part)),
    slice: (start: number, end: number) => text.slice(start, end),
  }
}

describe('templates that are refused', () => {
  test.each([
    ['x:{a}{b}', 'touch'],
    ['x:{+a}{b}', 'touch'],
    ['x:{a}/{a}', 'twice'],
    ['x:a', 'no variable'],
    ['{a}', 'scheme'],
    ['/a/{b}', 'scheme'],
    ['x:{/a*}', 'write {name}'],
    ['x:{?q}', 'write {name}'],
    ['x:{#a}', 'write {name}'],
    ['x:{a,b}', 'write {name}'],
    ['x:{a*}', 'write {name}'],
    ['x:{a:3}', 'write {name}'],
    ['x:{}', 'write {name}'],
    ['x:{a', 'brace'],
    ['x:a}/{b}', 'brace'],
    [`x:${'{a}/'.repeat(0)}${Array.from({ length: 9 }, (_, index) => `{v${index}}`).join('/')}`, 'more than 8'],
    [`x:{a}${'b'.repeat(3000)}`, 'longer than'],
  ])('%s', (template, reason) => {
    expect(() => parseUriTemplate(template)).toThrow(DefinitionError)
    expect(() => parseUriTemplate(template)).toThrow(reason)
  })
})

describe('expanding', () => {
  test.each([
    ['x:{a}/{+b}', { a: 'é b?', b: 'c/d e' }, 'x:%C3%A9%20b%3F/c/d%20e'],
    ['x:{a}', { a: '50%' }, 'x:50%25'],
  ])('%s with %j is %s', (template, values, uri) => {
    expect(expandUriTemplate<string>(template, values)).toBe(uri)
  })

  test.each([
    ['x:{a}', {}],
    ['x:{a}', { a: '' }],
    ['x:{a}', { a: 'b/c' }],
    ['x:{a}', { a: '..' }],
    ['x:{+a}', { a: '../b' }],
    ['x:{a}', { a: '\u0000' }],
    ['x:{a}', { a: '\ud800' }],
  ])('%s refuses %j, which it could not match again', (template, values) => {
    expect(() => expandUriTemplate<string>(template, values)).toThrow(DefinitionError)
  })

  const segment = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 20 })
    .filter((text) => !/[/\\\p{Cc}\p{Surrogate}]/u.test(text) && !/^[a-z]:|^[\s.]+$|%/i.test(text.normalize('NFKC')))
    .filter((text) => !/^[/\\]|[/\\]\.*[/\\]|[/\\]\.*$/.test(text.normalize('NFKC')))
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))

  test('an expanded URI matches with the same values', () => {
    fc.assert(
      fc.property(segment, path, segment, (a, b, c) => {
        const values = { a, b, c }
        expect(match('x://{a}/{+b}/{c}', expandUriTemplate('x://{a}/{+b}/{c}', values))).toEqual(values)
      }),
    )
  })

  test('what matches expands to a URI that matches with the same values', () => {
    const template = 'x:{a}-{+b}.{c}'
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab-./%2Fe\u00e9'), maxLength: 30 }), (text) => {
        const values = match(template, `x:${text}`)
        if (values === undefined) return
        expect(match(template, expandUriTemplate<string>(template, values))).toEqual(values)
        expect(posix.resolve('/root', values['b'] ?? '')).toMatch(/^\/root\/./)
      }),
    )
  })

  test('matching agrees with a regular expression, which may take its time', () => {
    const template = parseUriTemplate('x:{a}-{+b}-{c}/{d}')
    const pattern = /^x:([^/]+)-(.+)-([^/]+)\/([^/]+)$/
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab-/'), maxLength: 20 }), (text) => {
        const found = pattern.exec(`x:${text}`)
        // A value that begins with a slash is an absolute path.
        const expected = found?.[2]?.startsWith('/') === false ? valuesOf(found) : null
        expect(matchUriTemplate(template, `x:${text}`) ?? null).toEqual(expected)
      }),
      { numRuns: 2000 },
    )
  })
})
