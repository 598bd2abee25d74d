import { describe, expect, test } from 'vitest'
import { skillFile, skillText } from '../testing/files.ts'
import { parseSkillFiles } from './parse-skill-files.ts'
import type { SkillFile } from './skill-file.ts'

const parse = (...files: readonly SkillFile[]) => parseSkillFiles(files)
const file = (path: string, content: SkillFile['content'] = 'x'): SkillFile => ({ path, content })

describe('parseSkillFiles', () => {
  test('finds skills at any depth, and gives an enclosing skill the files of a nested one [SKI-014]', () => {
    const { skills } = parse(skillFile('a'), skillFile('a/b'), file('a/b/x.md'), skillFile('c/d/e'))
    expect(skills.map(({ uri, files }) => [uri, files.map(({ path }) => path)])).toEqual([
      ['skill://a/SKILL.md', ['a/SKILL.md', 'a/b/SKILL.md', 'a/b/x.md']],
      ['skill://a/b/SKILL.md', ['a/b/SKILL.md', 'a/b/x.md']],
      ['skill://c/d/e/SKILL.md', ['c/d/e/SKILL.md']],
    ])
  })

  test('percent-encodes the segments of a URI', () => {
    const { files } = parse(skillFile('Team A/x'), file('Team A/x/50 % & more?.md'))
    expect([...files.keys()]).toEqual(['skill://Team%20A/x/50%20%25%20%26%20more%3F.md', 'skill://Team%20A/x/SKILL.md'])
  })

  test('keeps every member of the frontmatter [SKI-011]', () => {
    const lines = ['license: MIT', 'metadata: { version: "2" }', 'later: [1, null, { a: true }]', 'date: 2026-01-01']
    expect(parse(skillFile('a', lines)).skills[0]?.frontmatter).toEqual({
      name: 'a',
      description: 'Does a',
      license: 'MIT',
      metadata: { version: '2' },
      later: [1, null, { a: true }],
      date: '2026-01-01',
    })
  })

  test('knows text from bytes, and keeps a byte order mark', () => {
    const { files } = parse(skillFile('a'), file('a/b.bin', new Uint8Array([0, 1])), file('a/c.txt', '\uFEFFc'))
    expect([...files.values()].map(({ mimeType, text }) => [mimeType, text?.slice(0, 3)])).toEqual([
      ['text/markdown', '---'],
      ['application/octet-stream', undefined],
      ['text/plain', '\uFEFFc'],
    ])
  })

  test('does not change with the bytes that the program passed', () => {
    const content = new TextEncoder().encode(skillText('a'))
    const { skills } = parse({ path: 'a/SKILL.md', content })
    content.fill(0)
    expect(skills[0]?.files[0]?.bytes[0]).toBe('-'.charCodeAt(0))
  })

  test.each<[string, readonly SkillFile[], string]>([
    ['a file outside of skills', [skillFile('a'), file('README.md')], 'README.md: belongs to no skill'],
    ['a SKILL.md in no directory', [file('SKILL.md', skillText('a'))], 'is in no directory'],
    ['two files of one path', [skillFile('a'), skillFile('a')], 'a/SKILL.md: two files have this path'],
    ['a path that leaves the folder', [file('../a/SKILL.md')], '"../a/SKILL.md": is not a path of a file'],
    ['an absolute path', [file('/a/SKILL.md')], 'is not a path of a file'],
    ['a path of Windows', [file('a\\SKILL.md')], 'is not a path of a file'],
    [
      'a path that UTF-8 cannot encode',
      [skillFile('a'), file('a/\ud800.md')],
      '"a/\\ud800.md": is not a path of a file',
    ],
    ['bytes that are not UTF-8', [file('a/SKILL.md', new Uint8Array([255, 254]))], 'is not UTF-8 text'],
    ['no frontmatter', [file('a/SKILL.md', '# A')], 'must begin with YAML frontmatter'],
    ['frontmatter without an end', [file('a/SKILL.md', '---\nname: a\n')], 'must begin with YAML frontmatter'],
    ['frontmatter after text', [file('a/SKILL.md', `x\n${skillText('a')}`)], 'must begin with YAML frontmatter'],
    ['no description', [file('a/SKILL.md', '---\nname: a\n---\n')], 'must have a `name` and a `description`'],
    ['a list as frontmatter', [file('a/SKILL.md', '---\n- a\n---\n')], 'must have a mapping'],
    ['YAML that is not valid', [skillFile('a', ['x: [1'])], 'is not valid YAML'],
    ['a member twice', [skillFile('a', ['name: a'])], 'is not valid YAML'],
    ['an alias', [skillFile('a', ['x: &x [1, 1]', 'y: [*x, *x]'])], 'is not valid YAML'],
    ['a value that JSON lacks', [skillFile('a', ['x: .inf'])], 'that JSON cannot represent: x'],
    ['another name than the directory', [file('a/SKILL.md', skillText('b'))], 'must be that of its directory, "a"'],
    ['an uppercase name', [skillFile('Aa')], 'the name "Aa" may have lowercase letters'],
    ['a name with two hyphens', [skillFile('a--b')], 'the name "a--b" may have'],
    ['a long name', [skillFile('a'.repeat(65))], 'name may have at most 64 characters'],
    ['a long description', [skillFile('a', [`compatibility: ${'x'.repeat(501)}`])], 'at most 500 characters'],
    ['metadata with a number', [skillFile('a', ['metadata: { version: 2 }'])], 'metadata must be a mapping from texts'],
  ])('rejects %s [SKI-004 SKI-005]', (_case, files, message) => {
    expect(() => parseSkillFiles(files)).toThrow(message)
  })

  test('rejects a skill of more than 512 files or 16 MiB, and accepts the limits [SKI-018]', () => {
    const files = (count: number) => Array.from({ length: count }, (_, index) => file(`a/${index}.md`))
    const allowed = 16 * 1024 * 1024 - skillText('a').length
    expect(parse(skillFile('a'), ...files(511)).files.size).toBe(512)
    expect(() => parse(skillFile('a'), ...files(512))).toThrow('a skill may have 512 files, and this one has 513')
    const megabytes = file('a/y', new Uint8Array(8_000_000))
    expect(parse(skillFile('a'), megabytes, file('a/x', new Uint8Array(allowed - 8_000_000))).files.size).toBe(3)
    expect(() => parse(skillFile('a'), file('a/x', new Uint8Array(allowed + 1)))).toThrow('a skill may have 16777216')
  })

  test.each<[string, SkillFile['content'], SkillFile['content'], string]>([
    [
      'bytes',
      new Uint8Array(12_533_760),
      new Uint8Array(12_533_761),
      '16711680 bytes in Base64, and this one has 16711684',
    ],
    [
      'text',
      '\u0001'.repeat(2_785_280),
      '\u0001'.repeat(2_785_281),
      '16711680 bytes in JSON, and this one has 16711686',
    ],
  ])('rejects a file of %s that does not fit into a message of 16 MiB', (_, largest, tooLarge, message) => {
    expect(parse(skillFile('a'), file('a/x', largest)).files.size).toBe(2)
    expect(() => parse(skillFile('a'), file('a/x', tooLarge))).toThrow(`a/x: a file may have ${message}`)
  })
})
