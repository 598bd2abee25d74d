import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SkillFile } from '../server/skill-file.ts'
import { skills } from '../server/skills.ts'
import { skillText } from '../testing/files.ts'
import { readSkills } from './read-skills.ts'
import { watchSkills } from './watch-skills.ts'

let folder: string
beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), 'skills-'))))
afterEach(() => rm(folder, { recursive: true }))

async function write(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
  await writeFile(path.join(folder, file), content)
}

const read = async () => (await readSkills(folder)).map((file) => file.path)

describe('readSkills', () => {
  test('reads every file of every skill, as bytes', async () => {
    await write('a/SKILL.md', skillText('a'))
    await write('a/scripts/x.py', 'print(1)')
    await write('b/c/SKILL.md', skillText('c'))
    await write('b/c/logo.png', new Uint8Array([0, 255]))
    const files = await readSkills(folder)
    expect(files.map((file) => file.path)).toEqual(['a/SKILL.md', 'a/scripts/x.py', 'b/c/SKILL.md', 'b/c/logo.png'])
    expect([...(files[3]?.content ?? [])]).toEqual([0, 255])
  })

  test('leaves out files outside of skills, and names that begin with a dot', async () => {
    await write('README.md', '# Skills')
    await write('drafts/idea.md', 'x')
    await write('a/SKILL.md', skillText('a'))
    await write('a/.DS_Store', 'x')
    await write('.git/SKILL.md', 'x')
    expect(await read()).toEqual(['a/SKILL.md'])
  })

  test.each(['a/passwd', 'linked'])('rejects the symbolic link %s, which could name any file', async (link) => {
    await write('a/SKILL.md', skillText('a'))
    await symlink('/etc/hostname', path.join(folder, link))
    await expect(readSkills(folder)).rejects.toThrow(`${link}: is neither a file nor a directory`)
  })

  test('a folder that is itself a skill is not read as one without skills', async () => {
    await write('SKILL.md', skillText('a'))
    const files = await readSkills(folder)
    expect(() => skills({ files })).toThrow('SKILL.md: is in no directory')
  })

  test('rejects a folder that does not exist', async () => {
    await expect(readSkills(path.join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('watchSkills', () => {
  test('reads the folder again after a change, until the watch is ended', async () => {
    await write('a/SKILL.md', skillText('a'))
    const reads: string[][] = []
    const stopWatching = watchSkills(folder, (files) => void reads.push(files.map((file) => file.path)))
    await write('a/more.md', 'x')
    await expect.poll(() => reads.at(-1)).toEqual(['a/SKILL.md', 'a/more.md'])
    await write('b/SKILL.md', skillText('b'))
    await expect.poll(() => reads.at(-1)).toEqual(['a/SKILL.md', 'a/more.md', 'b/SKILL.md'])
    stopWatching()
    const readCount = reads.length
    await write('c/SKILL.md', skillText('c'))
    expect(await read()).toContain('c/SKILL.md')
    expect(reads).toHaveLength(readCount)
  })

  test('does not call onChange for a read that was running when the watch was ended', async () => {
    await write('a/SKILL.md', skillText('a'))
    const reads: unknown[] = []
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const stopWatching = watchSkills(folder, (files) => void reads.push(files))
      await write('a/more.md', 'x')
      await expect.poll(() => vi.getTimerCount()).toBe(1)
      vi.runOnlyPendingTimers()
      stopWatching()
      // Begun later, and so ended later than the read of the watch.
      await read()
      await read()
      expect(reads).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  test('watches a folder again that was removed and created again, and logs that once', async () => {
    const errors: unknown[] = []
    const reads: string[][] = []
    const onChange = (files: readonly SkillFile[]): void => void reads.push(files.map((file) => file.path))
    await write('a/SKILL.md', skillText('a'))
    const stopWatching = watchSkills(folder, onChange, { log: ({ err }) => void errors.push(err) })
    await rm(folder, { recursive: true })
    await expect.poll(() => errors).toMatchObject([{ code: 'ENOENT' }])
    await write('b/SKILL.md', skillText('b'))
    await expect.poll(() => reads.at(-1), { timeout: 5000 }).toEqual(['b/SKILL.md'])
    await write('b/more.md', 'x')
    await expect.poll(() => reads.at(-1)).toEqual(['b/SKILL.md', 'b/more.md'])
    expect(errors).toHaveLength(1)
    stopWatching()
  })

  test('logs an error, and reads the folder after the next change', async () => {
    const errors: unknown[] = []
    const reads: number[] = []
    const onChange = (files: readonly unknown[]): void => {
      if (files.length === 1) throw new Error('one file')
      reads.push(files.length)
    }
    const stopWatching = watchSkills(folder, onChange, { log: ({ err }) => void errors.push(err) })
    await write('a/SKILL.md', skillText('a'))
    await expect.poll(() => errors).toContainEqual(new Error('one file'))
    await write('a/more.md', 'x')
    await expect.poll(() => reads.at(-1)).toBe(2)
    stopWatching()
  })
})
