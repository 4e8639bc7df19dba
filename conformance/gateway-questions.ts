/**
 * What is not known of API Gateway until somebody has asked a deployed stage: questions that cases of the suite ask.
 * docs/operations.md, "What is not yet known", has the same list with what depends on each.
 */
export const gatewayQuestions = {
  unknownPath: 'What does a path that does not exist, or a method that a path does not have, get?',
  unknownPathWithToken: 'What does such a request get when it has an Authorization header?',
  largeBody: 'What do bodies of more than 5 MB and of more than 10 MB get?',
  unusualPath: 'Do unusual characters in a path reach the function as they were sent?',
  trailingSlash: 'Does a path with a slash at its end reach the function of the path without it?',
  noContentType: 'Does a body without a Content-Type reach the function as it was sent?',
  crossOrigin:
    'What do preflight requests get, and can scripts of the configured origin read the responses of API Gateway?',
} as const;
