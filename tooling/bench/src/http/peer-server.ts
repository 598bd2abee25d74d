import { answerQuestions } from './answer-questions.ts'
import { officialEcho, serveOfficial } from './official.ts'

answerQuestions(serveOfficial(officialEcho()))
