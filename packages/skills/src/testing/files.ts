import type { SkillFile } from '../server/skill-file.ts'

/** Further lines of frontmatter follow the description. */
export function skillText(name: string, frontmatterLines: readonly string[] = [], body = `# ${name}`): string {
  return ['---', `name: ${name}`, `description: Does ${name}`, ...frontmatterLines, '---', '', body, ''].join('\n')
}

export function skillFile(directory: string, frontmatterLines: readonly string[] = []): SkillFile {
  const name = directory.split('/').at(-1) ?? ''
  return { path: `${directory}/SKILL.md`, content: skillText(name, frontmatterLines) }
}

/** Three skills: one with a nested skill, one with a prefix and a binary file. */
export const exampleFiles: readonly SkillFile[] = [
  skillFile('triage', ['license: MIT', 'metadata:', '  version: "2.1"']),
  { path: 'triage/reference/codes.md', content: '# Codes\n' },
  { path: 'triage/reference/old/codes.csv', content: 'code,meaning\n1,äöü\n' },
  skillFile('triage/escalate'),
  skillFile('support/refunds'),
  { path: 'support/refunds/logo.png', content: new Uint8Array([137, 80, 78, 71, 0, 255]) },
]
