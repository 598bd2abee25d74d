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
