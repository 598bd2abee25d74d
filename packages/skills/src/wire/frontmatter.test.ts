import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseFrontmatter } from './frontmatter.ts'

/** A JSON object without the key `__proto__`, which no object literal can have. */
const members = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc.jsonValue({ maxDepth: 4 }),
  { maxKeys: 5 },
)
const required = fc.record({ name: fc.string({ minLength: 1 }), description: fc.string({ minLength: 1 }) })

test('every JSON object with a name and a description is read as it was written [SKI-011]', () => {
  fc.assert(
    fc.property(members, required, fc.string(), (others, requiredMembers, body) => {
      const frontmatter = JSON.parse(JSON.stringify({ ...others, ...requiredMembers }))
      const yaml = stringify(frontmatter, { aliasDuplicateObjects: false })
      expect(parseFrontmatter(`---\n${yaml}---\n${body}`, 'skill://x/SKILL.md')).toEqual(frontmatter)
    }),
  )
})

test('any other text is a SkillError, and never another error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isEnclosed) => {
      try {
        parseFrontmatter(isEnclosed ? `---\n${text}\n---\n` : text, 'skill://x/SKILL.md')
      } catch (error) {
        expect(error).toMatchObject({ name: 'SkillError', code: 'frontmatter' })
      }
    }),
  )
})

const head = 'name: a\ndescription: b\n'
const enclose = (yaml: string): string => `---\n${yaml}---\n`
const fill = (bytes: number): string => `${head}x: ${'y'.repeat(bytes - head.length - 4)}\n`
const keys = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}: 1\n`).join('')

test('a frontmatter has at most 64 KiB, in bytes, with any number of keys [ROB-013]', () => {
  expect(parseFrontmatter(enclose(fill(65_536)), 'uri')).toMatchObject({ name: 'a' })
  expect(Object.keys(parseFrontmatter(enclose(head + keys(6000)), 'uri'))).toHaveLength(6002)
})

test.each([
  ['is a byte too long', enclose(fill(65_537))],
  ['is too long in bytes and not in characters', enclose(`${head}x: ${'\u00e9'.repeat(33_000)}\n`)],
  ['does not end', '---\n'.padEnd(1_000_000, '- a\n')],
  ['does not end, and each line could begin one', '\uFEFF---\n'.repeat(200_000)],
])('a frontmatter that %s is rejected with its bound, and the file is not read further [ROB-013]', (_, markdown) => {
  expect(() => parseFrontmatter(markdown, 'uri')).toThrow('frontmatter of at most 65536 bytes')
})

test.each([['a: 1\na: 2\n'], ['a: {b: 1, b: 2}\n'], ['1: a\n"1": b\n']])(
  'a key that occurs twice is rejected: %j',
  (yaml) => {
    expect(() => parseFrontmatter(enclose(head + yaml), 'uri')).toThrow('occurs twice')
  },
)
