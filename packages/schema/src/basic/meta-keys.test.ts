import { describe, expect, test } from 'vitest'
import { isMetaKey } from './meta-keys.ts'

describe('a _meta key', () => {
  test.each([
    ['a name alone', 'progressToken'],
    ['one character', 'a'],
    ['a digit', '7'],
    ['marks within a name [BAS-050]', 'a-b_c.d'],
    ['a prefix [BAS-047]', 'com.example/key'],
    ['a prefix of one label', 'example/key'],
    ['hyphens and digits within a label [BAS-048]', 'c-0.e--x9/key'],
    ['an empty name [BAS-050]', 'com.example/'],
    ['nothing', ''],
  ])('may be %s', (_, key) => {
    expect(isMetaKey(key)).toBe(true)
  })

  test.each([
    ['two slashes [BAS-047]', 'a/b/c'],
    ['an empty prefix [BAS-047]', '/key'],
    ['an empty label [BAS-047]', 'com..example/key'],
    ['a dot before the slash [BAS-047]', 'com./key'],
    ['a label that begins with a digit [BAS-048]', 'com.1example/key'],
    ['a label that begins with a hyphen [BAS-048]', '-com/key'],
    ['a label that ends with a hyphen [BAS-048]', 'com-/key'],
    ['an underscore in a label [BAS-048]', 'com_x/key'],
    ['a name that begins with a mark [BAS-050]', '_key'],
    ['a name that ends with a mark [BAS-050]', 'com.example/key.'],
    ['a space', 'a b'],
    ['a letter that is not ASCII', 'clé'],
    ['a newline behind', 'key\n'],
    ['more than 512 characters', 'k'.repeat(513)],
    ['a long run that matches until its end', `${'a'.repeat(500)}/-`],
  ])('may not have %s', (_, key) => {
    expect(isMetaKey(key)).toBe(false)
  })
})
