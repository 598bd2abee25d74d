import { echoAnswer } from '../http/call.ts'
import { answerCpu } from './answer-cpu.ts'

// The minimum of a server for JSON lines: it splits the lines, parses them, and answers a fixed text of the same size,
// with one write per chunk.
const answer = `${echoAnswer}\n`
let rest = ''

answerCpu()
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop() ?? ''
  let answers = ''
  for (const line of lines) {
    JSON.parse(line)
    answers += answer
  }
  if (answers !== '') process.stdout.write(answers)
})
process.stdin.on('end', () => process.exit())
