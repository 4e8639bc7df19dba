/** Fragments of each syntax around a text, without whitespace. */
const visibleFragments = [
  // JSON
  String.raw`" \ \\ \" \u0022 \u005c\u0022 \n { } [ ] : , {} [] ":" "," "} "}] null true -0 1e400 __proto__`,
  '"id": {"id":1} {"title":"x"} "data":[',
  // DynamoDB's JSON and expressions
  '{"S":" {"N":"1"} {"N":" {"BOOL":true} {"M":{ "}} }} }},{ "}},{" "}},{"id":{"N":"1 "},"title":{"S":" "Items":[ {"Items":[',
  '],"LastEvaluatedKey":{ "LastEvaluatedKey" ,"Count":1 "ScannedCount":0} {"Item":{ {"Attributes":{',
  '"ConsumedCapacity" :title #title attribute_not_exists(id)',
  // CSV and URLs
  '"" "","" ; sep=; =1+1 @SUM(A1) %00 %2e%2e%2f ../ ?limit=1&after=2',
  // Replacements, regular expressions, templates and markup
  "$1 $& $` $' $$ $<x> \\1 (?= .* #{x} {{x}} %s %n $input.json('$')",
  `\${x} \${env:HOME}`,
  "$context.requestId #set($x=1) $!{x} <script> &amp; <!-- ]]> ';--",
].flatMap((line) => line.split(' '));

/** The same with whitespace or beyond ASCII. */
const otherFragments = [
  '\t',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '"\n"',
  '0\r\n\r\n',
  'HTTP/1.1 200 OK\r\n',
  'Content-Length: 0\r\n\r\n',
  'GET /books HTTP/1.1',
  '</books>; rel="next"',
  '<%= x %>',
  ...'\0 \b \u001b[2J \u007f \u0085 \u2028 \u2029 \ufeff \ufffd \ufffe \u200d \u202e'.split(' '),
  ...'e\u0301 \u0301 \ud83d\udcda \ud83c\uddea\ud83c\uddfa \ud842\udfb7 \u{10ffff}'.split(' '),
];

/** What a parser or a template around a text may take for its own syntax. */
export const fragments: readonly string[] = [...visibleFragments, ...otherFragments];
