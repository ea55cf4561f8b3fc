// Why the daemon refuses something, in Chinese.
export const SERVER_TEXTS: Readonly<Record<string, string>> = {
  // Why it was refused
  'the account is no longer that of this ETag': '账号已被别人修改',
  'the limits are no longer those of this ETag': '限制已被别人修改',
  'the second factor is on already': '两步验证已经开启',
  'the second factor is off already': '两步验证已经关闭',
  'the second factor is off': '两步验证没有开启',
  'there is no new secret to confirm': '没有等待确认的新密钥，请重新开启',
  'the run is already finished': '这次运行已经结束',
  'there are as many tokens as there may be': '令牌数量已达上限',
  'there is no such account': '没有这个账号',
  'there is no such live session': '这个会话已经结束',
  'there is no such token': '没有这个令牌',
  'the agent has a fixed session key, and it is another one': '这个智能体固定使用另一个对话',
  'the daemon is shutting down': '服务正在停止',
  'another daemon is running it': '另一个服务进程正在运行它',
  'password hashes are for the operator only': '只有管理员能导出密码散列',
  'tokens may not do this': '令牌不能做这件事',
  'only the administrator may do this': '只有管理员能做这件事',
  'there is no such operator': '没有这个操作员',
  'another operator or the administrator has the name': '另一个操作员或管理员已使用这个名字',
  'send text/csv, application/json or text/plain': '只接受 CSV、JSON 或文本文件',
};
