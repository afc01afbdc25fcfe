/** Posts in other scripts: right to left, in both directions at once, and with a slug that WordPress keeps percent-encoded. */
import type { AwkwardPost } from '../model.ts';
import { article, body, html, paragraphs } from './build.ts';

/** A slug outside ASCII as WordPress stores it: percent-encoded, in lower case. */
const encodedSlug = (slug: string): string => encodeURIComponent(slug).toLowerCase();

export const languages: readonly AwkwardPost[] = [
  article({
    slug: 'arabic-baker-of-dearborn',
    title: 'خبّاز ديربورن الذي لا ينام: أربعون عامًا أمام الفرن',
    hours: 277.45,
    author: 'ines-calloway',
    sections: ['foreign', 'national'],
    excerpt: 'يبدأ عمله حين تُطفأ أنوار الشارع، ويعرف زبائنه من خطواتهم قبل أن يرى وجوههم.',
    image: { motif: 'kitchen', alt: 'رغيف خبز على لوح من الخشب.', caption: 'الرغيف الأول لا يُباع.' },
    contentHtml: paragraphs(
      'ديربورن، ميشيغان — في الثالثة فجرًا لا يُسمع في الشارع إلا صوت باب حديدي يُرفع. يدخل سليم، وهو في الثامنة والستين، ويشعل الفرن قبل أن يشعل الضوء.',
      'يقول: «النار تعرفني، أما الضوء فيزعجني». تعلّم المهنة من أبيه في قرية صغيرة قرب البحر، وحمل معه حين سافر ميزانًا من نحاس ولا شيء غيره.',
      'الرغيف الأول لا يُباع أبدًا. يضعه على حافة النافذة لمن يمرّ ولا يملك ثمنه، ولم يسأل مرة واحدة من أخذه.',
      'سألته متى يستريح. نظر إلى الساعة، ثم إلى العجين، وقال: «حين يشبع الناس».',
    ),
  }),
  article({
    slug: 'hebrew-watchmaker',
    title: 'השען שמסרב לכוון את השעון שלו',
    hours: 288.45,
    author: 'ines-calloway',
    sections: ['foreign', 'culture'],
    excerpt: 'בחנות קטנה במנהטן תלויים מאה ארבעים שעונים. כולם מדייקים, חוץ מאחד.',
    image: { motif: 'coins', alt: 'שעון כיס פתוח על שולחן עבודה.' },
    contentHtml: paragraphs(
      'ניו יורק — השעון שמעל הדלת מפגר בשבע דקות, ואברם הדס יודע זאת היטב. הוא שען כבר חמישים ושתיים שנה.',
      '„שבע דקות”, הוא אומר, „זה בדיוק הזמן שלוקח ללקוח להירגע. הוא נכנס, רואה שיש לו עוד זמן, ומתחיל לדבר.”',
      'פעם אחת בא עובד חדש, טיפס על סולם ותיקן את השעון. באותו יום לא דיבר איש.',
    ),
  }),
  article({
    slug: 'both-directions-at-once',
    title: 'The Poet of שדרות and قرطاج, Read in Queens (“2 × 2 = 5?”)',
    hours: 301.45,
    author: 'ines-calloway',
    sections: ['foreign', 'culture'],
    excerpt: 'An evening in three languages — English, العربية and עברית — at which the translator got the only laugh.',
    image: { motif: 'books', alt: 'Books whose spines face in both directions.' },
    contentHtml: body(
      paragraphs(
        'QUEENS — She began in English, turned in the middle of a line to Arabic (قالت: «لا بأس، 12 دقيقة تكفي») and ended it in Hebrew: „זה הכול, 12.”',
        'The number, as the translator pointed out, had come out the same.',
      ),
      html('<p dir="rtl" lang="ar">هذه فقرة من اليمين إلى اليسار فيها اسم <bdi lang="en">The Sun</bdi> ورقم الهاتف <span dir="ltr">+1 212 555 0183</span> بين قوسين (هكذا).</p>'),
      html('<blockquote dir="rtl" lang="he" class="wp-block-quote"><p>מי שקורא משני הצדדים, נפגש באמצע.</p><cite>שיר שלישי</cite></blockquote>'),
      html('<ul dir="rtl" lang="ar"><li>أولًا: <em>first</em></li><li>ثانيًا: <em>second</em></li></ul>'),
    ),
  }),
  article({
    slug: encodedSlug('港の夜明け'),
    title: '港の夜明け、最後の渡し船',
    hours: 313.45,
    author: 'ines-calloway',
    sections: ['foreign'],
    excerpt: '百二十年つづいた渡し船が、今朝、最後の客を乗せた。客は三人と、犬が一匹だった。',
    image: { motif: 'ship', alt: '夜明けの小さな渡し船。', caption: '船長は最後まで時刻表どおりに漕いだ。' },
    contentHtml: paragraphs(
      '尾道——午前五時四十分、船長の森脇さん(七十九)はいつものように綱をほどいた。対岸までは三百メートル、四分の旅である。',
      '橋がかかって二十年、客は減るばかりだった。それでも「橋は挨拶をしないからね」と通う人がいた。',
      '最後の便に乗ったのは三人と犬が一匹。犬は、降りるとき一度だけ振り返った。',
    ),
  }),
  article({
    slug: encodedSlug('чайная-на-перроне'),
    title: 'Чайная на перроне: девять минут стоянки',
    hours: 326.45,
    author: 'ines-calloway',
    sections: ['foreign', 'culture'],
    excerpt: 'Поезд стоит здесь девять минут. За это время успевают выпить стакан чая и рассказать всю жизнь.',
    image: { motif: 'railway', alt: 'Стакан чая в подстаканнике.' },
    contentHtml: paragraphs(
      'БРАЙТОН-БИЧ — Эту историю рассказала мне хозяйка чайной на углу, где висит расписание станции, которой больше нет.',
      '«Девять минут, — говорит она. — На десятой уже не говорят правду, на десятой смотрят на часы».',
    ),
  }),
];
